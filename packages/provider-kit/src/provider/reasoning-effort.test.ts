import { expect, it } from "vitest";
import { effortOf } from "./reasoning-effort.ts";

it.each([
  [{ effort: "minimal" }, "minimal"],
  [{ effort: "low", budgetTokens: 30_000 }, "low"],
  [{ budgetTokens: 1_024 }, "low"],
  [{ budgetTokens: 1_025 }, "medium"],
  [{ budgetTokens: 8_192 }, "medium"],
  [{ budgetTokens: 8_193 }, "high"],
  [{}, undefined],
] as const)("the wish %j is an effort of %s", (reasoning, effort) => {
  expect(effortOf(reasoning)).toBe(effort);
});
