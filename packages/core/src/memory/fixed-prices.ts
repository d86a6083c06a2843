import type { Cost, Usage } from "../message/usage.ts";
import type { PriceTable } from "../ports/price-table.ts";

/** US dollars per million tokens. */
export interface ModelPrice {
  readonly inputUsd: number;
  readonly outputUsd: number;
  /** Absent: the price is unknown, and the cost of a call that has such tokens is partial. */
  readonly cacheReadUsd?: number;
  readonly cacheWriteUsd?: number;
}

/** Prices written down by hand. Keys are `provider/model` or, for any provider, `model`. */
export function fixedPrices(table: { readonly [model: string]: ModelPrice }): PriceTable {
  const prices = new Map(Object.entries(table));
  return {
    costOf({ provider, model, usage }) {
      const price = prices.get(`${provider}/${model}`) ?? prices.get(model);
      return price && costAt(price, usage);
    },
  };
}

function costAt(price: ModelPrice, usage: Usage): Cost | undefined {
  if (usage.input === undefined && usage.output === undefined) return undefined;
  const parts: readonly (readonly [number | undefined, number | undefined])[] = [
    [usage.input, price.inputUsd],
    [usage.output, price.outputUsd],
    [usage.cacheRead ?? 0, price.cacheReadUsd],
    [usage.cacheWrite ?? 0, price.cacheWriteUsd],
  ];
  let totalUsd = 0;
  let partial = false;
  for (const [tokens, usdPerMillion] of parts) {
    if (tokens === 0) continue;
    if (tokens === undefined || usdPerMillion === undefined) partial = true;
    else totalUsd += (tokens * usdPerMillion) / 1_000_000;
  }
  return partial ? { totalUsd, partial } : { totalUsd };
}
