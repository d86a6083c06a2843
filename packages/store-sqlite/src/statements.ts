import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** Columns of a row as the engine gives them; absent ones are null. */
export interface Row {
  readonly [column: string]: unknown;
}

/** The statements of one connection, each prepared once. */
export interface Statements {
  one(sql: string, ...values: readonly SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: readonly SQLInputValue[]): readonly Row[];
  /** Rows one by one, for answers that may be large. */
  each(sql: string, ...values: readonly SQLInputValue[]): Iterable<Row>;
  /** How many rows were changed. */
  run(sql: string, ...values: readonly SQLInputValue[]): number;
}

export function statementsOf(database: DatabaseSync): Statements {
  const prepared = new Map<string, StatementSync>();
  const prepare = (sql: string, isWrite = false): StatementSync => {
    const known = prepared.get(sql);
    if (known) return known;
    const fresh = database.prepare(sql);
    // A write into a full-text table leaves a last row id beyond 2^53, and node:sqlite throws on such a number, asked for or not.
    if (isWrite) fresh.setReadBigInts(true);
    prepared.set(sql, fresh);
    return fresh;
  };
  return {
    one: (sql, ...values) => prepare(sql).get(...values),
    all: (sql, ...values) => prepare(sql).all(...values),
    each: (sql, ...values) => prepare(sql).iterate(...values),
    run: (sql, ...values) => Number(prepare(sql, true).run(...values).changes),
  };
}

/** A column that holds a whole number; 0 where it is null. */
export function numberOf(row: Row | undefined, column: string): number {
  return Number(row?.[column] ?? 0);
}

/** A column that holds text; null where it holds none. */
export function textOf(row: Row | undefined, column: string): string | null {
  const value = row?.[column];
  return typeof value === "string" ? value : null;
}
