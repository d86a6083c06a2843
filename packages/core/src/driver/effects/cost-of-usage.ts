import type { Cost, Usage } from "../../message/usage.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PriceTable } from "../../ports/price-table.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import { type Reports, reportThrown } from "../setup/user-code-errors.ts";
import type { SyncOrAsync } from "./sync-or-async.ts";

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

/**
 * The cost of a call that has not begun; synchronous if the price table is. `undefined` if the cost is unknown, or the table takes longer than a second.
 * An error of the table is not reported here: the table is asked again when the call has ended.
 */
export function costAhead(
  { prices, clock }: { readonly prices: PriceTable; readonly clock: Clock },
  charged: Charged,
): SyncOrAsync<Cost | undefined> {
  try {
    const cost = prices.costOf(charged);
    if (!(cost instanceof Promise)) return soundCost(cost);
    return new Promise((resolve) => {
      const cancel = clock.after(driverLimits.priceMs, () => resolve(undefined));
      const known = (value: Cost | undefined): void => {
        cancel();
        resolve(soundCost(value));
      };
      cost.then(known, () => known(undefined));
    });
  } catch {
    return undefined;
  }
}

/** The cost if it is plausible; `undefined` otherwise. */
export function soundCost(cost: Cost | undefined): Cost | undefined {
  return cost && Number.isFinite(cost.totalUsd) && cost.totalUsd >= 0 ? cost : undefined;
}
