import type { Clock } from "../ports/clock.ts";
import type {
  LedgerCall,
  LedgerOutcome,
  LedgerPeriod,
  LedgerRequest,
  LedgerSpending,
  UsageAmount,
  UsageLedger,
} from "../ports/usage-ledger.ts";
import { type LedgerLimits, type LedgerSum, ledgerSums } from "../stores/ledger-limits.ts";
import { systemClock } from "./clock.ts";

export interface MemoryLedgerOptions {
  readonly limits: LedgerLimits;
  /** The accounts that a call counts for. Default: those of its scope, its user and its session. */
  readonly accounts?: (call: LedgerCall) => readonly string[];
  readonly clock?: Clock;
}

/** A ledger in this process. */
export interface MemoryLedger extends UsageLedger {
  /** What counts as spent for the account, in the open window of its limit (the first one, or that of `per`): reservations that are open included. */
  spent(account: string, per?: LedgerPeriod): Required<UsageAmount>;
}

/** A ledger for the sessions of one process; it begins empty. Sums are kept of accounts with a limit alone. */
export function memoryLedger(options: MemoryLedgerOptions): MemoryLedger {
  return new LedgerInMemory(options);
}

interface Entry extends Pick<LedgerRequest, "ask" | "expiresAt"> {
  readonly sums: readonly LedgerSum[];
  isSettled: boolean;
}

const nothing: Required<UsageAmount> = { tokens: 0, costUsd: 0 };

class LedgerInMemory implements MemoryLedger {
  readonly accountsOf: (call: LedgerCall) => readonly string[];
  readonly #limits: LedgerLimits;
  readonly #clock: Clock;
  readonly #sums = new Map<string, Required<UsageAmount> & { readonly endsAt?: number }>();
  /** When the first window of `#sums` ends. */
  #nextEnd = Number.POSITIVE_INFINITY;
  /** In the order of their reservation. */
  readonly #entries = new Map<string, Entry>();

  constructor({ limits, accounts = (call) => call.accounts, clock = systemClock }: MemoryLedgerOptions) {
    this.#limits = limits;
    this.accountsOf = accounts;
    this.#clock = clock;
    if (typeof limits !== "function") ledgerSums(limits, Object.keys(limits), clock.now());
  }

  spent(account: string, per?: LedgerPeriod): Required<UsageAmount> {
    const sums = ledgerSums(this.#limits, [account], this.#clock.now());
    const sum = per === undefined ? sums[0] : sums.find(({ limit }) => limit.per === per);
    return sum ? this.#spentIn(sum) : nothing;
  }

  reserve({ id, accounts, ask, expiresAt }: LedgerRequest): LedgerOutcome {
    this.#forgetExpired();
    if (this.#entries.has(id)) return { type: "reserved" };
    const sums = ledgerSums(this.#limits, accounts, this.#clock.now());
    for (const sum of sums) {
      const { tokens, costUsd } = this.#spentIn(sum);
      const { account, limit, endsAt } = sum;
      const per = { ...(limit.per === undefined ? {} : { per: limit.per }), ...(endsAt === undefined ? {} : { resetsAt: endsAt }) };
      if (tokens + ask.tokens > (limit.tokens ?? Number.POSITIVE_INFINITY))
        return refusal({ account, which: "tokens", limit: limit.tokens as number, ...per }, tokens);
      if (exact(costUsd + (ask.costUsd ?? 0)) > (limit.costUsd ?? Number.POSITIVE_INFINITY))
        return refusal({ account, which: "costUsd", limit: limit.costUsd as number, ...per }, costUsd);
    }
    this.#entries.set(id, { sums, ask, expiresAt, isSettled: false });
    for (const sum of sums) this.#open(sum);
    this.#add(sums, ask, 1);
    return { type: "reserved" };
  }

  settle(id: string, spent: LedgerSpending): void {
    const entry = this.#entries.get(id);
    if (!entry || entry.isSettled) return;
    entry.isSettled = true;
    this.#add(entry.sums, entry.ask, -1);
    this.#add(entry.sums, spent, 1);
  }

  release(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry || entry.isSettled) return;
    this.#entries.delete(id);
    this.#add(entry.sums, entry.ask, -1);
  }

  #spentIn({ name }: LedgerSum): Required<UsageAmount> {
    return this.#sums.get(name) ?? nothing;
  }

  #open({ name, endsAt }: LedgerSum): void {
    if (this.#sums.has(name)) return;
    this.#sums.set(name, { ...nothing, ...(endsAt === undefined ? {} : { endsAt }) });
    this.#nextEnd = Math.min(this.#nextEnd, endsAt ?? Number.POSITIVE_INFINITY);
  }

  /** A window that has ended is not opened again for what is settled late. */
  #add(sums: readonly LedgerSum[], { tokens, costUsd = 0 }: UsageAmount, sign: 1 | -1): void {
    for (const { name } of sums) {
      const sum = this.#sums.get(name);
      if (sum) this.#sums.set(name, { ...sum, tokens: sum.tokens + sign * tokens, costUsd: exact(sum.costUsd + sign * costUsd) });
    }
  }

  /** Oldest first, up to one that may still be settled: what is open behind it is forgotten later. The sums stay until their windows end. */
  #forgetExpired(): void {
    const now = this.#clock.now();
    if (this.#nextEnd <= now) this.#forgetWindows(now);
    for (const [id, { expiresAt }] of this.#entries) {
      if (expiresAt >= now) return;
      this.#entries.delete(id);
    }
  }

  #forgetWindows(now: number): void {
    this.#nextEnd = Number.POSITIVE_INFINITY;
    for (const [name, { endsAt = Number.POSITIVE_INFINITY }] of this.#sums) {
      if (endsAt <= now) this.#sums.delete(name);
      else this.#nextEnd = Math.min(this.#nextEnd, endsAt);
    }
  }
}

type Refused = Extract<LedgerOutcome, { readonly type: "refused" }>;

const refusal = (refused: Omit<Refused, "type" | "left">, spent: number): Refused => ({
  type: "refused",
  ...refused,
  left: Math.max(0, exact(refused.limit - spent)),
});

/** Without what adding and subtracting leaves behind the ninth digit. */
const exact = (usd: number): number => Math.round(usd * 1e9) / 1e9;
