import type { DatabaseSync } from "node:sqlite";
import { systemClock } from "@loopwright/core/memory";
import type { Clock, LedgerCall, LedgerOutcome, LedgerPeriod, UsageAmount, UsageLedger } from "@loopwright/core/ports";
import { type LedgerLimits, type LedgerSum, ledgerSums } from "@loopwright/core/stores";

export interface SqliteLedgerOptions {
  /** The same in every process. */
  readonly limits: LedgerLimits;
  /** The accounts that a call counts for. Default: those of its scope, its user and its session. */
  readonly accounts?: (call: LedgerCall) => readonly string[];
  readonly clock?: Clock;
}

/** A ledger that can be read. */
export interface SqliteLedger extends UsageLedger {
  /** What counts as spent for the account, in the open window of its limit (the first one, or that of `per`): reservations that are open included. */
  spent(account: string, per?: LedgerPeriod): Promise<Required<UsageAmount>>;
}

const nanosOf = (usd = 0): number => Math.round(usd * 1e9);

/** Each step is one transaction, so that limits hold over all processes on the file. */
export function sqliteLedger(
  database: DatabaseSync,
  { limits, accounts: accountsOf = (call) => call.accounts, clock = systemClock }: SqliteLedgerOptions,
): SqliteLedger {
  if (typeof limits !== "function") ledgerSums(limits, Object.keys(limits), clock.now());
  const sum = database.prepare("SELECT tokens, nanos FROM ledger_sum WHERE name = ?");
  const add = database.prepare(
    "INSERT INTO ledger_sum (name, tokens, nanos, endsAt) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens, nanos = nanos + excluded.nanos",
  );
  const change = database.prepare("UPDATE ledger_sum SET tokens = tokens + ?, nanos = nanos + ? WHERE name = ?");
  const find = database.prepare("SELECT tokens, nanos, sums, isOpen FROM reservation WHERE id = ?");
  const keep = database.prepare("INSERT INTO reservation (id, tokens, nanos, sums, isOpen, expiresAt) VALUES (?, ?, ?, ?, 1, ?)");
  const close = database.prepare("UPDATE reservation SET isOpen = 0 WHERE id = ?");
  const drop = database.prepare("DELETE FROM reservation WHERE id = ?");
  const forget = [
    database.prepare("DELETE FROM reservation WHERE expiresAt < ?"),
    database.prepare("DELETE FROM ledger_sum WHERE endsAt <= ?"),
  ];

  const spentOf = ({ name }: LedgerSum): { readonly tokens: number; readonly nanos: number } => {
    const row = sum.get(name);
    return { tokens: Number(row?.["tokens"] ?? 0), nanos: Number(row?.["nanos"] ?? 0) };
  };
  /** Puts an amount in the place of what was reserved. */
  const end = (id: string, tokens: number, nanos: number): boolean => {
    const row = find.get(id);
    if (!row || Number(row["isOpen"]) === 0) return false;
    for (const name of JSON.parse(String(row["sums"])) as readonly string[])
      change.run(tokens - Number(row["tokens"]), nanos - Number(row["nanos"]), name);
    return true;
  };

  return {
    accountsOf,
    async reserve({ id, accounts, ask, expiresAt }) {
      const sums = ledgerSums(limits, accounts, clock.now());
      return atomically(database, (): LedgerOutcome => {
        for (const statement of forget) statement.run(clock.now());
        if (find.get(id)) return { type: "reserved" };
        const [tokens, nanos] = [Math.ceil(ask.tokens), nanosOf(ask.costUsd)];
        for (const one of sums) {
          const refusal = refusalOf(one, spentOf(one), { tokens, nanos });
          if (refusal) return refusal;
        }
        for (const { name, endsAt } of sums) add.run(name, tokens, nanos, endsAt ?? null);
        keep.run(id, tokens, nanos, JSON.stringify(sums.map(({ name }) => name)), Math.ceil(expiresAt));
        return { type: "reserved" };
      });
    },
    async settle(id, { tokens, costUsd }) {
      atomically(database, () => end(id, Math.ceil(tokens), nanosOf(costUsd)) && close.run(id));
    },
    async release(id) {
      atomically(database, () => end(id, 0, 0) && drop.run(id));
    },
    async spent(account, per) {
      const sums = ledgerSums(limits, [account], clock.now());
      const asked = per === undefined ? sums[0] : sums.find(({ limit }) => limit.per === per);
      const { tokens, nanos } = asked ? spentOf(asked) : { tokens: 0, nanos: 0 };
      return { tokens, costUsd: nanos / 1e9 };
    },
  };
}

function atomically<T>(database: DatabaseSync, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

interface Exact {
  readonly tokens: number;
  readonly nanos: number;
}

function refusalOf({ account, limit, endsAt }: LedgerSum, spent: Exact, ask: Exact): LedgerOutcome | undefined {
  const window = { ...(limit.per === undefined ? {} : { per: limit.per }), ...(endsAt === undefined ? {} : { resetsAt: endsAt }) };
  if (limit.tokens !== undefined && spent.tokens + ask.tokens > limit.tokens)
    return { type: "refused", account, which: "tokens", limit: limit.tokens, ...window, left: Math.max(0, limit.tokens - spent.tokens) };
  if (limit.costUsd !== undefined && spent.nanos + ask.nanos > nanosOf(limit.costUsd))
    return {
      type: "refused",
      account,
      which: "costUsd",
      limit: limit.costUsd,
      ...window,
      left: Math.max(0, nanosOf(limit.costUsd) - spent.nanos) / 1e9,
    };
  return undefined;
}
