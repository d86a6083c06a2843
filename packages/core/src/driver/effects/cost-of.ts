import type { Cost, Usage } from "../../message/usage.ts";
import type { PriceTable } from "../../ports/price-table.ts";
import { type Reports, reportThrown } from "../setup/user-code.ts";

/** The usage that is charged, and its date. */
interface Charged {
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly at: number;
}

/** A price table, and where its errors are reported. */
export interface Pricing extends Reports {
  readonly prices: PriceTable | undefined;
}

/** The cost of one call; `undefined` if it is unknown. If a price table fails, the cost is unknown and the run continues. */
export async function costOf({ prices, ...reports }: Pricing, charged: Charged): Promise<Cost | undefined> {
  try {
    return soundCost(await prices?.costOf(charged));
  } catch (error) {
    reportThrown(reports, "The price table threw an error.", error);
    return undefined;
  }
}

/** The cost if it is plausible; `undefined` otherwise. */
export function soundCost(cost: Cost | undefined): Cost | undefined {
  return cost && Number.isFinite(cost.totalUsd) && cost.totalUsd >= 0 ? cost : undefined;
}
