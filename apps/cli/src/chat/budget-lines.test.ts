import { expect, it } from "vitest";
import { budgetLines } from "./slash-command.ts";

it("a budget has what is used, marked where it is estimated, and the limits of each answer", () => {
  const none = { tokensMax: 0, costUsdMax: 0 };
  expect(budgetLines({}, none)).toEqual(["Nothing is used yet.", "There is no limit of tokens or money."]);
  const used = { usage: { input: 900, output: 50, source: "estimated" as const }, cost: { totalUsd: 0.5, partial: true } };
  const [first, second] = budgetLines(used, { tokensMax: 5_000, costUsdMax: 2 });
  expect(first).toMatch(/^Used so far, children included: ~900 in · ~50 out · \$0\.50*\+\.$/);
  expect(second).toMatch(/^Each answer may use 5000 tokens and \$2/);
  expect(budgetLines({}, undefined)[1]).toBe("The limits are those of the server's agent.");
});
