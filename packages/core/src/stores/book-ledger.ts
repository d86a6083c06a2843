/*
 * Owns: how a usage ledger counts: what is reserved, refused, settled, released and shown, over books that keep the sums.
 * Does not own: where sums and reservations are kept (the books), which sums a limit bounds (ledger-limits).
 * Invariant: for each reservation, the sums of an account hold once the reserved amount, or the spent amount that replaced it.
 */
import type { Clock } from "../ports/clock.ts";
import type { LedgerCall, LedgerOutcome, LedgerPeriod, LedgerRequest, UsageAmount, UsageLedger } from "../ports/usage-ledger.ts";
import { type LedgerLimits, type LedgerSum, ledgerSums } from "./ledger-limits.ts";

export interface LedgerOptions {
  /** Must be the same in every process. */
  readonly limits: LedgerLimits;
  /** The accounts that a call counts for. Default: those of its scope, its user and its session. */
  readonly accounts?: (call: LedgerCall) => readonly string[];
  /** Decides which window is open. Default: the system clock. */
  readonly clock?: Clock;
}

/** The options with a clock: `stores` has none of its own. */
export interface TimedLedgerOptions extends LedgerOptions {
  readonly clock: Clock;
}

/** An amount whose sums do not drift: whole tokens, and billionths of a US dollar. */
export interface ExactAmount {
  readonly tokens: number;
  readonly nanos: number;
}

/** A reservation in the books. */
export interface BookedReservation extends ExactAmount {
  /** The names of the sums that the reservation counts for. */
  readonly sums: readonly string[];
  /** False: it was settled. */
  readonly isOpen: boolean;
}

/** Where a ledger keeps its sums and reservations. */
export interface LedgerBooks {
  /** Runs one step: as a whole or not at all, and without another step in between. */
  atomically<T>(step: () => T): T;
  /** The amount of a sum; 0 if it was never opened. */
  spent(name: string): ExactAmount;
  /** Adds to a sum, and opens it if it is not there. */
  open(sum: LedgerSum, amount: ExactAmount): void;
  /** Adds an amount, which may be negative, to a sum. Does nothing for a sum whose window has ended. */
  change(name: string, amount: ExactAmount): void;
  reservation(id: string): BookedReservation | undefined;
  /** Keeps a reservation under an id that is free. */
  keep(id: string, reservation: BookedReservation, expiresAt: number): void;
  /** Marks the reservation as settled. */
  close(id: string): void;
  drop(id: string): void;
  /** Removes reservations that have expired, and sums whose window has ended. */
  forget(now: number): void;
}

/** A ledger whose steps are synchronous, and whose sums can be read. */
export interface BookLedger extends UsageLedger {
  reserve(request: LedgerRequest): LedgerOutcome;
  settle(id: string, spent: UsageAmount): void;
  release(id: string): void;
  /** What counts as spent for the account, in the open window of its first limit, or of its limit for `per`; open reservations are included. */
  spent(account: string, per?: LedgerPeriod): Required<UsageAmount>;
}

/** Makes a ledger over the books. @throws AgentError CONFIG_INVALID for a limit that cannot be used */
export function bookLedger(books: LedgerBooks, options: TimedLedgerOptions): BookLedger {
  const { accountsOf, sumsOf, sumOf, now } = ledgerTerms(options);
  /** Replaces what was reserved; false if it is not open. */
  const end = (id: string, { tokens, nanos }: ExactAmount): boolean => {
    const asked = books.reservation(id);
    if (!asked?.isOpen) return false;
    for (const name of asked.sums) books.change(name, { tokens: tokens - asked.tokens, nanos: nanos - asked.nanos });
    return true;
  };
  return {
    accountsOf,
    reserve: ({ id, accounts, ask, expiresAt }) => {
      const sums = sumsOf(accounts);
      const amount = exactAmount(ask);
      return books.atomically((): LedgerOutcome => {
        books.forget(now());
        if (books.reservation(id)) return { type: "reserved" };
        for (const sum of sums) {
          const refusal = ledgerRefusal(sum, books.spent(sum.name), amount);
          if (refusal) return refusal;
        }
        for (const sum of sums) books.open(sum, amount);
        books.keep(id, { ...amount, sums: sums.map(({ name }) => name), isOpen: true }, expiresAt);
        return { type: "reserved" };
      });
    },
    settle: (id, spent) => books.atomically(() => void (end(id, exactAmount(spent)) && books.close(id))),
    release: (id) => books.atomically(() => void (end(id, { tokens: 0, nanos: 0 }) && books.drop(id))),
    spent: (account, per) => {
      const sum = sumOf(account, per);
      return usageAmount(sum ? books.spent(sum.name) : { tokens: 0, nanos: 0 });
    },
  };
}

/** What every ledger derives from its options, wherever its sums are. */
export interface LedgerTerms {
  readonly accountsOf: (call: LedgerCall) => readonly string[];
  /** The sums that a call counts for now. */
  readonly sumsOf: (accounts: readonly string[]) => readonly LedgerSum[];
  /** The open sum of an account: for its first limit, or for its limit with this `per`. */
  readonly sumOf: (account: string, per?: LedgerPeriod) => LedgerSum | undefined;
  readonly now: () => number;
}

/** @throws AgentError CONFIG_INVALID for a limit that cannot be used; limits that a function returns are checked with each call */
export function ledgerTerms({ limits, accounts = (call) => call.accounts, clock }: TimedLedgerOptions): LedgerTerms {
  const sumsOf = (of: readonly string[]): readonly LedgerSum[] => ledgerSums(limits, of, clock.now());
  if (typeof limits !== "function") sumsOf(Object.keys(limits));
  return {
    accountsOf: accounts,
    sumsOf,
    sumOf: (account, per) => sumsOf([account]).find(({ limit }) => per === undefined || limit.per === per),
    now: () => clock.now(),
  };
}

/** The refusal of an amount for which the sum has no room. */
export function ledgerRefusal({ account, limit, endsAt }: LedgerSum, spent: ExactAmount, ask: ExactAmount): LedgerOutcome | undefined {
  const window = { ...(limit.per === undefined ? {} : { per: limit.per }), ...(endsAt === undefined ? {} : { resetsAt: endsAt }) };
  const { tokens, costUsd } = limit;
  if (tokens !== undefined && spent.tokens + ask.tokens > tokens)
    return { type: "refused", account, which: "tokens", limit: tokens, ...window, left: Math.max(0, tokens - spent.tokens) };
  if (costUsd === undefined || spent.nanos + ask.nanos <= nanosOf(costUsd)) return undefined;
  const left = Math.max(0, nanosOf(costUsd) - spent.nanos) / 1e9;
  return { type: "refused", account, which: "costUsd", limit: costUsd, ...window, left };
}

const nanosOf = (usd: number): number => Math.round(usd * 1e9);

/** Tokens are rounded up. */
export const exactAmount = ({ tokens, costUsd = 0 }: UsageAmount): ExactAmount => ({ tokens: Math.ceil(tokens), nanos: nanosOf(costUsd) });

export const usageAmount = ({ tokens, nanos }: ExactAmount): Required<UsageAmount> => ({ tokens, costUsd: nanos / 1e9 });
