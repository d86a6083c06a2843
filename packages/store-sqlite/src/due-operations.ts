import type { DueSession } from "@loopwright/core/ports";
import { machineMs, runningLease } from "./lease-operations.ts";
import type { Ask } from "./operation.ts";
import { findSession, sessionColumns, sessionRowOf } from "./session-rows.ts";
import { numberOf, type Statements, textOf } from "./statements.ts";

/** Sessions whose date has come and that nobody owns, by date, scope and id. */
export function due(statements: Statements, { now, limit, after, machineNow = machineMs() }: Ask<"due">): readonly DueSession[] {
  const found: DueSession[] = [];
  if (limit <= 0) return found;
  // What comes before every session: dates may be of before 1970.
  const { ref, due: from } = after ?? { ref: { scope: "", session: "" }, due: Number.MIN_SAFE_INTEGER };
  const sql = `SELECT due, scope, ${sessionColumns} FROM sessions WHERE due <= ? AND (due, scope, id) > (?, ?, ?) ORDER BY due, scope, id`;
  for (const row of statements.each(sql, now, from, ref.scope, ref.session)) {
    const session = sessionRowOf(row);
    if (runningLease(session, machineNow)) continue;
    found.push({ ref: { scope: textOf(row, "scope") ?? "", session: session.id }, due: numberOf(row, "due") });
    if (found.length >= limit) break;
  }
  return found;
}

/** Corrects the date of a session that still ends where its reader has seen it. */
export function setDue(statements: Statements, { ref, expectedSeq, due: date }: Ask<"setDue">): void {
  const session = findSession(statements, ref);
  if (session && !session.isRemoved && session.lastSeq === expectedSeq)
    statements.run("UPDATE sessions SET due = ? WHERE key = ?", date, session.key);
}
