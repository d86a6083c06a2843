import type { Fact } from "@loopwright/core";
import type { SessionSummary } from "@loopwright/core/ports";
import { projectSession, type SessionProjection } from "@loopwright/core/stores";
import { readPage } from "./log-operations.ts";
import type { Ask } from "./operation.ts";
import { findSession, type SessionRow, sessionColumns, sessionRowOf } from "./session-rows.ts";
import { numberOf, type Statements, textOf } from "./statements.ts";
import { isOfOneSession } from "./store-fault.ts";

/** Projections that were folded further than the file knows. */
export type FreshProjections = Map<number, SessionProjection>;

const live = "removed = 0 AND last_seq > 0";

/** A page of summaries, the session changed last first. */
export function list(
  statements: Statements,
  { scope, limit, before, parent }: Ask<"list">,
  fresh: FreshProjections,
): readonly SessionSummary[] {
  const behind = before ? "AND (updated_at, id) < (?, ?)" : "";
  const rows = statements.all(
    `SELECT ${sessionColumns} FROM sessions WHERE scope = ? AND parent IS ? AND ${live} ${behind} ORDER BY updated_at DESC, id DESC LIMIT ?`,
    ...[scope, parent ?? null, ...(before ? [before.updatedAt, before.id] : []), limit],
  );
  return rows.map((row) => summaryOf(statements, sessionRowOf(row), fresh));
}

export function get(statements: Statements, { scope, id }: Ask<"get">, fresh: FreshProjections): SessionSummary | undefined {
  const session = findSession(statements, { scope, session: id });
  return session && !session.isRemoved && session.lastSeq > 0 ? summaryOf(statements, session, fresh) : undefined;
}

/** Throws the projections of a scope away and folds them anew; the index of words follows at the next search. */
export function rebuild(statements: Statements, scope: string): number {
  const sessions = liveSessions(statements, scope);
  for (const { key } of sessions) {
    statements.run("DELETE FROM summaries WHERE session = ?", key);
    statements.run("DELETE FROM words WHERE rowid IN (SELECT id FROM texts WHERE session = ?)", key);
    statements.run("DELETE FROM texts WHERE session = ?", key);
    statements.run("UPDATE sessions SET indexed_seq = 0 WHERE key = ?", key);
  }
  const fresh: FreshProjections = new Map();
  for (const session of sessions) summaryOf(statements, session, fresh);
  saveProjections(statements, fresh);
  return sessions.length;
}

export function liveSessions(statements: Statements, scope: string): readonly SessionRow[] {
  return statements.all(`SELECT ${sessionColumns} FROM sessions WHERE scope = ? AND ${live}`, scope).map(sessionRowOf);
}

/** The summary of a session: the stored projection, folded over what was written since. */
export function summaryOf(statements: Statements, session: SessionRow, fresh: FreshProjections): SessionSummary {
  let projection: SessionProjection | undefined;
  try {
    const row = statements.one("SELECT seq, value FROM summaries WHERE session = ?", session.key);
    projection = projectionOf(textOf(row, "value"));
    if (numberOf(row, "seq") === session.lastSeq && projection) return projection.summary;
    for (const facts of pagesOf(statements, session, (projection?.summary.lastSeq ?? 0) + 1))
      projection = projectSession(session.id, projection, facts);
  } catch (error) {
    // A damaged log is reported to its readers; the list continues with what is known.
    if (!isOfOneSession(error)) throw error;
    return { ...(projection?.summary ?? unknownSummary(session)), updatedAt: session.updatedAt, lastSeq: session.lastSeq };
  }
  if (!projection) return unknownSummary(session);
  fresh.set(session.key, projection);
  return projection.summary;
}

/** The facts of a session from `from` on, page by page. */
function* pagesOf(statements: Statements, session: SessionRow, from: number): Generator<readonly Fact[]> {
  for (let next = from; next <= session.lastSeq; ) {
    const page = readPage(statements, session, { from: next, limit: session.lastSeq });
    const facts: readonly Fact[] = JSON.parse(page.text);
    yield facts;
    next += page.count;
  }
}

/** Keeps projections for the next time. The caller holds the write transaction. */
export function saveProjections(statements: Statements, fresh: FreshProjections): void {
  for (const [key, projection] of fresh)
    statements.run(
      `INSERT INTO summaries (session, seq, value) SELECT key, ?, ? FROM sessions WHERE key = ? AND ${live}
       ON CONFLICT (session) DO UPDATE SET seq = excluded.seq, value = excluded.value WHERE excluded.seq > summaries.seq OR NOT json_valid(summaries.value)`,
      ...[projection.summary.lastSeq, JSON.stringify(projection), key],
    );
}

function projectionOf(text: string | null): SessionProjection | undefined {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // It is folded anew.
    return undefined;
  }
}

function unknownSummary({ id, updatedAt, lastSeq }: SessionRow): SessionSummary {
  return { id, agent: "", status: "idle", createdAt: updatedAt, updatedAt, lastSeq, messageCount: 0 };
}
