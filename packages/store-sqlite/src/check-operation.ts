import { statSync } from "node:fs";
import { readPage } from "./log-operations.ts";
import type { SqliteReport } from "./operation.ts";
import type { Quarantine } from "./quarantine.ts";
import { schemaVersion } from "./schema.ts";
import { sessionColumns, sessionRowOf } from "./session-rows.ts";
import { numberOf, type Row, type Statements, textOf } from "./statements.ts";
import { isOfOneSession } from "./store-fault.ts";

/** The findings of the engine and of the chains of all logs. Reads the whole file; the quarantine gets all damage. */
export function check(statements: Statements, path: string, quarantine: Quarantine): SqliteReport {
  const count = (table: string, where = ""): number => numberOf(statements.one(`SELECT count(*) AS n FROM ${table} ${where}`), "n");
  const problems = statements.all("PRAGMA integrity_check").flatMap((row) => textOf(row, "integrity_check") ?? []);
  const sessions = statements.all(`SELECT scope, ${sessionColumns} FROM sessions WHERE removed = 0 AND last_seq > 0`);
  return {
    path,
    version: schemaVersion,
    sizeBytes: sizeOf(path) + sizeOf(`${path}-wal`),
    sessionCount: sessions.length,
    factCount: count("facts"),
    blobCount: count("blobs") + count("owned_blobs"),
    problems: problems.filter((problem) => problem !== "ok"),
    damaged: sessions.filter((row) => isDamaged(statements, row, quarantine)).map((row) => `${textOf(row, "scope")}/${textOf(row, "id")}`),
  };
}

/** Takes the marks from sessions that are whole again. The caller holds the write transaction, so no mark is set meanwhile. */
export function liftMarks(statements: Statements, quarantine: Quarantine): void {
  for (const row of statements.all(markedSessions))
    if (!isDamaged(statements, row, quarantine)) statements.run("UPDATE sessions SET damage = NULL WHERE key = ?", sessionRowOf(row).key);
}

/** True when a session is marked as damaged that a check has found whole. */
export function hasWrongMark(statements: Statements, { damaged }: SqliteReport): boolean {
  return statements.all(markedSessions).some((row) => !damaged.includes(`${textOf(row, "scope")}/${textOf(row, "id")}`));
}

const markedSessions = `SELECT scope, ${sessionColumns} FROM sessions WHERE damage IS NOT NULL`;

function isDamaged(statements: Statements, row: Row, quarantine: Quarantine): boolean {
  const session = sessionRowOf(row);
  try {
    quarantine.watch({ scope: textOf(row, "scope") ?? "", session: session.id }, () => {
      for (let from = 1; from <= session.lastSeq; ) {
        const { text, count } = readPage(statements, session, { from, limit: session.lastSeq });
        JSON.parse(text);
        from += count;
      }
    });
    return false;
  } catch (error) {
    if (isOfOneSession(error)) return true;
    throw error;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
