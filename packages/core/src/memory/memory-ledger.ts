import type { Clock } from "../ports/clock.ts";
import type { LedgerOutcome, LedgerRequest, LedgerSpending, UsageAmount, UsageLedger } from "../ports/usage-ledger.ts";
import { systemClock } from "./clock.ts";

/** The most that an account may spend. Absent: without a limit. */
export interface LedgerLimit {
  readonly tokens?: number;
  readonly costUsd?: number;
}

export interface MemoryLedgerOptions {
  /** By account, for example `scope/local`; or a function that finds the limit of an account. */
  readonly limits: { readonly [account: string]: LedgerLimit } | ((account: string) => LedgerLimit | undefined);
  readonly clock?: Clock;
}

/** A ledger in this process. */
export interface MemoryLedger extends UsageLedger {
  /** What counts as spent for the account: reservations that are open included. */
  spent(account: string): Required<UsageAmount>;
}

/** A ledger for the sessions of one process; it begins empty. Sums are kept of accounts with a limit alone. */
export function memoryLedger(options: MemoryLedgerOptions): MemoryLedger {
  return new LedgerInMemory(options);
}

interface Entry extends Pick<LedgerRequest, "accounts" | "ask" | "expiresAt"> {
  isSettled: boolean;
}

const nothing: Required<UsageAmount> = { tokens: 0, costUsd: 0 };

class LedgerInMemory implements MemoryLedger {
  readonly #limitOf: (account: string) => LedgerLimit | undefined;
  readonly #clock: Clock;
  readonly #sums = new Map<string, Required<UsageAmount>>();
  /** In the order of their reservation. */
  readonly #entries = new Map<string, Entry>();

  constructor({ limits, clock = systemClock }: MemoryLedgerOptions) {
    this.#limitOf = typeof limits === "function" ? limits : (account) => (Object.hasOwn(limits, account) ? limits[account] : undefined);
    this.#clock = clock;
  }

  spent(account: string): Required<UsageAmount> {
    return this.#sums.get(account) ?? nothing;
  }

  reserve({ id, accounts, ask, expiresAt }: LedgerRequest): LedgerOutcome {
    this.#forgetExpired();
    if (this.#entries.has(id)) return { type: "reserved" };
    const limited = accounts.filter((account) => this.#limitOf(account));
    for (const account of limited) {
      const { tokens, costUsd } = this.spent(account);
      const limit = this.#limitOf(account) ?? {};
      if (tokens + ask.tokens > (limit.tokens ?? Number.POSITIVE_INFINITY))
        return { type: "refused", account, which: "tokens", limit: limit.tokens as number };
      if (exact(costUsd + (ask.costUsd ?? 0)) > (limit.costUsd ?? Number.POSITIVE_INFINITY))
        return { type: "refused", account, which: "costUsd", limit: limit.costUsd as number };
    }
    this.#entries.set(id, { accounts: limited, ask, expiresAt, isSettled: false });
    this.#add(limited, ask, 1);
    return { type: "reserved" };
  }

  settle(id: string, spent: LedgerSpending): void {
    const entry = this.#entries.get(id);
    if (!entry || entry.isSettled) return;
    entry.isSettled = true;
    this.#add(entry.accounts, entry.ask, -1);
    this.#add(entry.accounts, spent, 1);
  }

  release(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry || entry.isSettled) return;
    this.#entries.delete(id);
    this.#add(entry.accounts, entry.ask, -1);
  }

  #add(accounts: readonly string[], { tokens, costUsd = 0 }: UsageAmount, sign: 1 | -1): void {
    for (const account of accounts) {
      const sum = this.spent(account);
      this.#sums.set(account, { tokens: sum.tokens + sign * tokens, costUsd: exact(sum.costUsd + sign * costUsd) });
    }
  }

  /** Oldest first, up to one that may still be settled: what is open behind it is forgotten later. The sums stay as they are. */
  #forgetExpired(): void {
    const now = this.#clock.now();
    for (const [id, { expiresAt }] of this.#entries) {
      if (expiresAt >= now) return;
      this.#entries.delete(id);
    }
  }
}

/** Without what adding and subtracting leaves behind the ninth digit. */
const exact = (usd: number): number => Math.round(usd * 1e9) / 1e9;
