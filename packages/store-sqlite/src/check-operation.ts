import { statSync } from "node:fs";
import { readPage } from "./log-operations.ts";
import type { SqliteReport } from "./operation.ts";
import { schemaVersion } from "./schema.ts";
import { type SessionRow, sessionColumns, sessionRowOf } from "./session-rows.ts";
import { numberOf, type Statements, textOf } from "./statements.ts";
import { StoreFault } from "./store-fault.ts";

/** What the engine and the chains of all logs say of the file. Reads everything. */
export function check(statements: Statements, path: string): SqliteReport {
  const count = (table: string, where = ""): number => numberOf(statements.one(`SELECT count(*) AS n FROM ${table} ${where}`), "n");
  const problems = statements.all("PRAGMA integrity_check").flatMap((row) => textOf(row, "integrity_check") ?? []);
  const sessions = statements.all(`SELECT scope, ${sessionColumns} FROM sessions WHERE removed = 0 AND last_seq > 0`);
  return {
    path,
    version: schemaVersion,
    sizeBytes: sizeOf(path) + sizeOf(`${path}-wal`),
    sessionCount: sessions.length,
    factCount: count("facts"),
    blobCount: count("blobs"),
    problems: problems.filter((problem) => problem !== "ok"),
    damaged: sessions
      .filter((row) => isDamaged(statements, sessionRowOf(row)))
      .map((row) => `${textOf(row, "scope")}/${textOf(row, "id")}`),
  };
}

function isDamaged(statements: Statements, session: SessionRow): boolean {
  try {
    for (let from = 1; from <= session.lastSeq; ) from += readPage(statements, session, { from, limit: session.lastSeq }).count;
    return false;
  } catch (error) {
    if (error instanceof StoreFault) return true;
    throw error;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
