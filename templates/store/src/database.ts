import { DatabaseSync, type StatementSync } from "node:sqlite";
import { AgentError, isAgentError } from "@loopwright/core";

/** What a column holds. */
export type Column = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, Column>>;

/**
 * The driver behind four methods: this file and `schema.ts` are all that knows SQLite. For a database on a server make the methods asynchronous and let
 * `atomically` lock the session's row (`SELECT ... FOR UPDATE`).
 */
export interface Database {
  one(sql: string, ...values: readonly Column[]): Row | undefined;
  all(sql: string, ...values: readonly Column[]): readonly Row[];
  run(sql: string, ...values: readonly Column[]): void;
  /**
   * Runs the work in one transaction that no other writer interleaves, and maps what it throws.
   * @throws AgentError STORE_UNAVAILABLE, STORE_FULL, STORE_READ_ONLY, STORE_CORRUPT; nothing was written then.
   */
  atomically<T>(work: () => T): Promise<T>;
  close(): void;
}

/** Opens the file and creates what is missing in it. Any number of processes may have it open. */
export function openDatabase(path: string, schema: string): Database {
  const database = new DatabaseSync(path);
  // FULL: an acknowledged append survives a power failure. A writer waits a second for another one.
  database.exec("PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec(schema);
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const known = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    one: (sql, ...values) => statement(sql).get(...values) as Row | undefined,
    all: (sql, ...values) => statement(sql).all(...values) as unknown as readonly Row[],
    run: (sql, ...values) => void statement(sql).run(...values),
    async atomically(work) {
      try {
        database.exec("BEGIN IMMEDIATE");
        const result = work();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        if (database.isOpen && database.isTransaction) database.exec("ROLLBACK");
        throw storeError(error);
      }
    },
    close: () => {
      if (database.isOpen) database.close();
    },
  };
}

const codes = { 5: "STORE_UNAVAILABLE", 8: "STORE_READ_ONLY", 11: "STORE_CORRUPT", 13: "STORE_FULL", 26: "STORE_CORRUPT" } as const;

function storeError(error: unknown): unknown {
  if (isAgentError(error)) return error;
  const { errcode } = error as { readonly errcode?: number };
  // The low byte is the kind of trouble, the rest its detail.
  const code = codes[((errcode ?? 0) & 0xff) as keyof typeof codes] ?? "STORE_UNAVAILABLE";
  return new AgentError(code, { message: `The database refused the operation (${errcode ?? "closed"}).`, cause: error });
}
