import type { Access, Labels } from "../loop/fact.ts";

/** An amount of usage: not negative. */
export interface UsageAmount {
  readonly tokens: number;
  /** Absent: the price is unknown, and the amount counts for tokens alone. */
  readonly costUsd?: number;
}

/** A window of time of a limit. */
export type LedgerPeriod = "day" | "month";

/** The call that is about to be made. */
export interface LedgerCall {
  /** The accounts by default, widest first: `scope/<scope>`, `user/<scope>/<user>`, `session/<scope>/<session>`. */
  readonly accounts: readonly string[];
  readonly session: string;
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
  /** The user whose run it is. */
  readonly access: Access;
  /** Labels of the input. */
  readonly labels: Labels;
}

/** What one attempt of a model call may spend. */
export interface LedgerRequest {
  /** Names the attempt, over all sessions: `<scope>/<session>/<effect id>`, and the effect id ends with the attempt. */
  readonly id: string;
  /** The accounts that the attempt counts for: those of `accountsOf`. */
  readonly accounts: readonly string[];
  /** The most that the attempt is expected to spend. */
  readonly ask: UsageAmount;
  /** Milliseconds since the epoch. No `settle` and no `release` follows after it: the ledger may forget the id, and an unsettled reservation stays spent. */
  readonly expiresAt: number;
}

export type LedgerOutcome =
  | { readonly type: "reserved" }
  /**
   * `limit`: the limit of `account`, in units of `which`. `per`: the window of the limit; absent: all time. `left`: what is left of the limit, not negative,
   * so that the run can ask for a last answer that fits. `resetsAt`: when the window of `per` ends, in milliseconds since the epoch.
   */
  | {
      readonly type: "refused";
      readonly account: string;
      readonly which: "tokens" | "costUsd";
      readonly limit: number;
      readonly per?: LedgerPeriod;
      readonly resetsAt?: number;
      readonly left: number;
    };

/** What one attempt has spent. */
export interface LedgerSpending extends UsageAmount {
  /** `estimated`: the vendor did not report it. */
  readonly source: "reported" | "estimated";
}

/**
 * Quotas and budgets over all sessions. The driver reserves before each attempt of a model call, settles when the attempt has ended, and releases if no
 * request was sent. All three are idempotent by id. What is reserved counts as spent, in full, until it is settled or released: also if the process dies. An
 * error that `reserve` throws ends the run with HOOK_FAILED; an error of the other two is logged, and the reservation stays.
 */
export interface UsageLedger {
  /** The accounts that a call counts for. Default: `call.accounts`. An error that it throws ends the run with HOOK_FAILED. */
  accountsOf?(call: LedgerCall): readonly string[];
  /**
   * Reserves for all accounts or for none, also if several calls come at once; refused if an account would exceed its limit. An id that is already reserved
   * counts once; a refused or released id may be reserved again.
   */
  reserve(request: LedgerRequest): LedgerOutcome | Promise<LedgerOutcome>;
  /** Replaces the reserved amount by what was spent, which may be more. Does nothing for an id that is settled, released or unknown. */
  settle(id: string, spent: LedgerSpending): void | Promise<void>;
  /** Cancels a reservation. Does nothing for an id that is settled, released or unknown. */
  release(id: string): void | Promise<void>;
}
