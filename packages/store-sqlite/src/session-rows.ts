import type { SessionRef } from "@loopwright/core/ports";
import { numberOf, type Row, type Statements, textOf } from "./statements.ts";
import { StoreFault } from "./store-fault.ts";

/** What the file holds of a session beside its facts. */
export interface SessionRow {
  readonly key: number;
  readonly id: string;
  readonly lastSeq: number;
  readonly chain: number;
  readonly updatedAt: number;
  readonly isClosed: boolean;
  readonly isRemoved: boolean;
  readonly indexedSeq: number;
  readonly epoch: number;
  readonly lease: Lease | undefined;
}

/** A lease as it was written; whether it runs is another matter. */
export interface Lease {
  readonly node: string;
  readonly until: number;
  readonly leaseMs: number;
  readonly owner: string | null;
}

export const leaseColumns = "lease_node, lease_until, lease_ms, lease_owner";

export const sessionColumns: string = `key, id, last_seq, chain, updated_at, closed, removed, indexed_seq, epoch, ${leaseColumns}`;

/** By the index of names, and then once more by the key that it gives: a damaged index must not lead to another session. */
const byName = `SELECT own.scope, ${sessionColumns.replace(/\w+/g, "own.$&")} FROM sessions AS named LEFT JOIN sessions AS own ON own.key = named.key
  WHERE named.scope = ? AND named.id = ?`;

/** The row of a session; `undefined` when the id was never used. Throws STORE_CORRUPT where the name leads elsewhere. */
export function findSession(statements: Statements, { scope, session }: SessionRef): SessionRow | undefined {
  const row = statements.one(byName, scope, session);
  if (row && (textOf(row, "scope") !== scope || textOf(row, "id") !== session))
    throw new StoreFault({
      code: "STORE_CORRUPT",
      message: `The list of sessions is damaged: the name \`${session}\` leads to another one.`,
    });
  return row && sessionRowOf(row);
}

/** The row of a session, made where it is missing. */
export function openSession(statements: Statements, ref: SessionRef): SessionRow {
  const found = findSession(statements, ref);
  if (found) return found;
  statements.run("INSERT INTO sessions (scope, id) VALUES (?, ?)", ref.scope, ref.session);
  return openSession(statements, ref);
}

/** Where the log of a session ends: 0 when it was removed, `undefined` when nothing was ever in it. */
export function tailOf(row: SessionRow | undefined): number | undefined {
  return row?.isRemoved ? 0 : row?.lastSeq || undefined;
}

export function leaseOf(row: Row): Lease | undefined {
  const node = textOf(row, "lease_node");
  if (node === null) return undefined;
  return { node, until: numberOf(row, "lease_until"), leaseMs: numberOf(row, "lease_ms"), owner: textOf(row, "lease_owner") };
}

export function sessionRowOf(row: Row): SessionRow {
  return {
    key: numberOf(row, "key"),
    id: textOf(row, "id") ?? "",
    lastSeq: numberOf(row, "last_seq"),
    chain: numberOf(row, "chain"),
    updatedAt: numberOf(row, "updated_at"),
    isClosed: numberOf(row, "closed") !== 0,
    isRemoved: numberOf(row, "removed") !== 0,
    indexedSeq: numberOf(row, "indexed_seq"),
    epoch: numberOf(row, "epoch"),
    lease: leaseOf(row),
  };
}
