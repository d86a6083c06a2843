import type { Cost, PriceTable } from "@loopwright/core";
import { fixedPrices } from "@loopwright/core/memory";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { PricesUnderTest } from "../../src/prices/price-table-kit.ts";

const real = fixedPrices({ known: { inputUsd: 3, outputUsd: 15 } });

/** An honest table for the kit: one model with two prices. */
export const makeFixedPrices = async (): Promise<PricesUnderTest> => ({ prices: real, provider: "any", model: "known" });

const spoiled = (costOf: PriceTable["costOf"]) => async (): Promise<PricesUnderTest> => ({
  ...(await makeFixedPrices()),
  prices: { costOf },
});
const changed = (change: (cost: Cost) => Cost) =>
  spoiled((call) => {
    const cost = real.costOf(call) as Cost | undefined;
    return cost && change(cost);
  });

/** Defects of price tables. */
export const priceTableSaboteurs: readonly Saboteur<PricesUnderTest>[] = [
  { defect: "gives everything away", breaks: ["known"], make: changed((cost) => ({ ...cost, totalUsd: 0 })) },
  {
    defect: "rounds to ten dollars",
    breaks: ["in-proportion"],
    make: changed((cost) => ({ ...cost, totalUsd: Math.ceil(cost.totalUsd / 10) * 10 })),
  },
  {
    defect: "takes an unknown model for a known one",
    breaks: ["unknown-model"],
    make: spoiled((call) => real.costOf({ ...call, model: "known" })),
  },
  { defect: "takes unknown for 0", breaks: ["unknown-usage"], make: spoiled((call) => real.costOf(call) ?? zeroOf(call)) },
  { defect: "hides that a part is unknown", breaks: ["half-known"], make: changed(({ totalUsd }) => ({ totalUsd })) },
  { defect: "looks everything up again", breaks: ["from-memory"], make: spoiled(async (call) => real.costOf(call)) },
];

const zeroOf = ({ model }: { readonly model: string }): Cost | undefined => (model === "known" ? { totalUsd: 0 } : undefined);
