/** A price table for Loopwright. */
export type { PriceOverride, PricesOptions } from "./prices.ts";
export { prices } from "./prices.ts";
