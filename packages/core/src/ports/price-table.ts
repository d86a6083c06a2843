import type { Cost, Usage } from "../message/usage.ts";

/** Prices of tokens. */
export interface PriceTable {
  /**
   * Returns the cost of one call in proportion to its counts; if one side of the usage is unknown, the cost of the other side with `partial`. Returns
   * `undefined` when the model or its usage is unknown (never 0). Called often: it must answer from memory once loaded.
   */
  costOf(call: {
    readonly provider: string;
    readonly model: string;
    readonly usage: Usage;
    readonly at: number;
  }): Cost | undefined | Promise<Cost | undefined>;
}
