import { addCost, type Cost, type PriceTable, type Usage } from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";

/** A price table and a model whose input and output it knows the prices of: both above 0, and the same for any amount. */
export interface PricesUnderTest {
  readonly prices: PriceTable;
  readonly provider: string;
  readonly model: string;
}

const at = 1_767_225_600_000;
const million = 1_000_000;

/** The promises of `PriceTable`. */
export const priceTableKit: StoreKit<PricesUnderTest> = [
  {
    id: "known",
    promise: "a known model costs more than nothing, in money that can be added up",
    async run(make) {
      const cost = await costOf(await make(), { input: million, output: million });
      expectThat(cost !== undefined && Number.isFinite(cost.totalUsd) && cost.totalUsd > 0, `The cost is ${JSON.stringify(cost)}.`);
      expectSame(cost.partial ?? false, false, "partial");
    },
  },
  {
    id: "in-proportion",
    promise: "what is read and what is written cost in proportion, and together their sum",
    async run(make) {
      const under = await make();
      const read = await costOf(under, { input: million, output: 0 });
      const written = await costOf(under, { input: 0, output: million });
      const twice = await costOf(under, { input: 2 * million, output: 2 * million });
      const sum = addCost(addCost(read, written), addCost(read, written));
      expectThat(isClose(twice, sum), `Twice as much costs ${JSON.stringify(twice)} instead of ${JSON.stringify(sum)}.`);
    },
  },
  {
    id: "unknown-model",
    promise: "an unknown model has no cost, not a cost of 0",
    async run(make) {
      const { prices, provider } = await make();
      const cost = await prices.costOf({ provider, model: "model-that-nobody-knows", usage: { input: million, output: million }, at });
      expectSame(cost, undefined, "the cost");
    },
  },
  {
    id: "unknown-usage",
    promise: "usage without a count has no cost, not a cost of 0",
    async run(make) {
      expectSame(await costOf(await make(), {}), undefined, "the cost");
    },
  },
  {
    id: "half-known",
    promise: "usage with one side unknown costs the other, and reports that this is not all",
    async run(make) {
      const under = await make();
      const half = await costOf(under, { input: million });
      const read = await costOf(under, { input: million, output: 0 });
      expectSame(half?.partial, true, "partial");
      expectThat(isClose(half, read), `The cost is ${JSON.stringify(half)} instead of ${JSON.stringify(read)}.`);
    },
  },
  {
    id: "from-memory",
    promise: "once it has answered it answers at once",
    async run(make) {
      const under = await make();
      await costOf(under, { input: 1, output: 1 });
      const again = costOf(under, { input: 1, output: 1 });
      expectThat(!(again instanceof Promise), "The second answer is a promise.");
    },
  },
];

function costOf({ prices, provider, model }: PricesUnderTest, usage: Usage): ReturnType<PriceTable["costOf"]> {
  return prices.costOf({ provider, model, usage, at });
}

function isClose(a: Cost | undefined, b: Cost | undefined): boolean {
  return a !== undefined && b !== undefined && Math.abs(a.totalUsd - b.totalUsd) < 1e-9;
}
