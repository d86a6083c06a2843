import type { Cost, Usage } from "../message/usage.ts";

/** What tokens cost. */
export interface PriceTable {
  /** The cost of one call, or `undefined` when the model or its usage is unknown (never 0). May be asked often: answers from memory once loaded. */
  costOf(call: {
    readonly provider: string;
    readonly model: string;
    readonly usage: Usage;
    readonly at: number;
  }): Cost | undefined | Promise<Cost | undefined>;
}
