import type { DatabaseSync } from "node:sqlite";
import { systemClock } from "@loopwright/core/memory";
import type { LedgerPeriod, UsageAmount, UsageLedger } from "@loopwright/core/ports";
import { bookLedger, type LedgerOptions } from "@loopwright/core/stores";
import { ledgerRows } from "./ledger-rows.ts";

export type SqliteLedgerOptions = LedgerOptions;

/** A ledger that can be read. */
export interface SqliteLedger extends UsageLedger {
  /** What counts as spent for the account, in the open window of its limit (the first one, or that of `per`): reservations that are open included. */
  spent(account: string, per?: LedgerPeriod): Promise<Required<UsageAmount>>;
}

/** Each step is one transaction, so that limits hold over all processes on the file. What the file refuses rejects. */
export function sqliteLedger(database: DatabaseSync, options: SqliteLedgerOptions): SqliteLedger {
  const ledger = bookLedger(ledgerRows(database), { clock: systemClock, ...options });
  return {
    ...(ledger.accountsOf ? { accountsOf: ledger.accountsOf } : {}),
    reserve: async (request) => ledger.reserve(request),
    settle: async (id, spent) => ledger.settle(id, spent),
    release: async (id) => ledger.release(id),
    spent: async (account, per) => ledger.spent(account, per),
  };
}
