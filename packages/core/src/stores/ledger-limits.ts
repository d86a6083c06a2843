/*
 * Owns: the limits of accounts of a usage ledger, and which sums they bound at a time. Does not own: the sums (the ledgers).
 */
import { AgentError } from "../errors.ts";
import { localTime, timeInZone } from "../message/zoned-time.ts";
import type { LedgerPeriod } from "../ports/usage-ledger.ts";

/** The most that an account may spend. An absent unit has no limit. */
export interface LedgerLimit {
  readonly tokens?: number;
  readonly costUsd?: number;
  /** The window of time of the limit, which begins at midnight of its zone. Default: all time. */
  readonly per?: LedgerPeriod;
  /** The IANA zone of the window, for example `Europe/Berlin`. Default `UTC`. */
  readonly timeZone?: string;
}

/** The limits by account, for example `scope/local`; or a function that finds the limits of an account. An account may have several, one for each window. */
export type LedgerLimits =
  | { readonly [account: string]: LedgerLimit | readonly LedgerLimit[] }
  | ((account: string) => LedgerLimit | readonly LedgerLimit[] | undefined);

/** The sum that one limit bounds: of an account, in the window that is open. */
export interface LedgerSum {
  readonly account: string;
  readonly limit: LedgerLimit;
  /** Unique over accounts and windows. */
  readonly name: string;
  /** When its window ends, in milliseconds since the epoch. Absent: never. */
  readonly endsAt?: number;
}

/** The sums that a call at `now` counts for, in the order of the accounts. Accounts without a limit have none. @throws AgentError CONFIG_INVALID */
export function ledgerSums(limits: LedgerLimits, accounts: readonly string[], now: number): readonly LedgerSum[] {
  return accounts.flatMap((account) => {
    const own = typeof limits === "function" ? limits(account) : Object.hasOwn(limits, account) ? limits[account] : undefined;
    if (own === undefined) return [];
    return (Array.isArray(own) ? (own as readonly LedgerLimit[]) : [own as LedgerLimit]).map((limit) => sumOf(account, limit, now));
  });
}

function sumOf(account: string, limit: LedgerLimit, now: number): LedgerSum {
  const { per, timeZone = "UTC", tokens = 0, costUsd = 0 } = limit;
  // A limit that is no number would never be reached.
  if (!(tokens >= 0 && costUsd >= 0)) throw invalid(account, "its `tokens` or its `costUsd` is not a number from 0 on");
  if (per === undefined) return { account, limit, name: account };
  if (per !== "day" && per !== "month") throw invalid(account, "its `per` is neither day nor month");
  let local: Date;
  try {
    local = new Date(localTime(now, timeZone));
  } catch {
    throw invalid(account, "its `timeZone` is not a time zone that this platform knows");
  }
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  const end = per === "day" ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
  const label = local.toISOString().slice(0, per === "day" ? 10 : 7);
  return { account, limit, name: `${account}@${label} ${timeZone}`, endsAt: timeInZone(end, timeZone) };
}

const invalid = (account: string, why: string): AgentError =>
  new AgentError("CONFIG_INVALID", { message: `The limit of the account \`${account}\` cannot be used: ${why}.` });
