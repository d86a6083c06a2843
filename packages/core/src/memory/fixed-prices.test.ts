import { expect, it } from "vitest";
import type { Usage } from "../message/usage.ts";
import { fixedPrices } from "./fixed-prices.ts";

const prices = fixedPrices({
  "acme/large": { inputUsd: 2, outputUsd: 10, cacheReadUsd: 0.5 },
  small: { inputUsd: 1, outputUsd: 4 },
});
const cost = (model: string, usage: Usage, provider = "acme"): unknown => prices.costOf({ provider, model, usage, at: 0 });

const cases: readonly (readonly [string, string, Usage, unknown])[] = [
  ["adds what was read and written", "large", { input: 1_000_000, output: 100_000 }, { totalUsd: 3 }],
  ["counts cached tokens at their own price", "large", { input: 0, output: 0, cacheRead: 2_000_000 }, { totalUsd: 1 }],
  ["is partial where a price is unknown", "large", { input: 0, output: 100_000, cacheWrite: 5 }, { totalUsd: 1, partial: true }],
  ["is partial where a count is unknown", "large", { output: 100_000 }, { totalUsd: 1, partial: true }],
  ["is unknown without a count", "large", { total: 5 }, undefined],
  ["is unknown for an unknown model", "medium", { input: 1, output: 1 }, undefined],
];
for (const [what, model, usage, wanted] of cases) it(`the cost ${what}`, () => expect(cost(model, usage)).toEqual(wanted));

it("a price without a provider holds for all, one with a provider for that one alone", () => {
  const usage = { input: 1_000_000, output: 0 };
  expect([cost("small", usage, "other"), cost("large", usage, "other")]).toEqual([{ totalUsd: 1 }, undefined]);
});
