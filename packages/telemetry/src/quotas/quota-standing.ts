import { systemClock } from "@loopwright/core/memory";
import type { Clock, UsageAmount } from "@loopwright/core/ports";
import { type LedgerLimits, ledgerSums } from "@loopwright/core/stores";

/** How an account stands at one of its limits. */
export interface QuotaStanding {
  readonly account: string;
  readonly per?: "day" | "month";
  readonly timeZone?: string;
  readonly tokens?: { readonly limit: number; readonly spent: number; readonly left: number };
  readonly costUsd?: { readonly limit: number; readonly spent: number; readonly left: number };
  /** When its window ends, in milliseconds since the epoch. */
  readonly resetsAt?: number;
}

/** A ledger whose sums can be read: `memoryLedger`, that of a telemetry file, and that of `@loopwright/store-redis`. */
export interface ReadableLedger {
  /** What counts as spent for the account, in the open window of its limit (the first one, or that of `per`). */
  spent(account: string, per?: "day" | "month"): Required<UsageAmount> | Promise<Required<UsageAmount>>;
}

export interface StandingOptions {
  readonly ledger: ReadableLedger;
  readonly limits: LedgerLimits;
  readonly clock?: Pick<Clock, "now">;
}

/** The standing of these accounts; none for an account without a limit. @throws what the ledger throws */
export async function quotaStandings(
  accounts: readonly string[],
  { ledger, limits, clock = systemClock }: StandingOptions,
): Promise<readonly QuotaStanding[]> {
  const sums = ledgerSums(limits, accounts, clock.now());
  return Promise.all(
    sums.map(async ({ account, limit, endsAt }): Promise<QuotaStanding> => {
      const spent = await ledger.spent(account, limit.per);
      return {
        account,
        ...(limit.per === undefined ? {} : { per: limit.per, timeZone: limit.timeZone ?? "UTC" }),
        ...(limit.tokens === undefined ? {} : { tokens: standing(limit.tokens, spent.tokens) }),
        ...(limit.costUsd === undefined ? {} : { costUsd: standing(limit.costUsd, spent.costUsd) }),
        ...(endsAt === undefined ? {} : { resetsAt: endsAt }),
      };
    }),
  );
}

const standing = (limit: number, spent: number) => ({ limit, spent, left: Math.max(0, Math.round((limit - spent) * 1e9) / 1e9) });
