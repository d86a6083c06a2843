import { type Fact, isAgentError } from "@loopwright/core";
import type { AppendOutcome, AppendRequest, Clock, DueSession, SessionLog, SessionRef } from "@loopwright/core/ports";
import { checkedRef, factTexts } from "@loopwright/core/stores";
import type { Database } from "./database.ts";
import { acmeLeases } from "./leases.ts";
import { factOf, openSession } from "./rows.ts";
import { keepProjection } from "./session-index.ts";

/** Most sessions of one answer of `due`, unless fewer are asked for. */
const duePageMax = 100;

/** The log. Each method is one transaction, so what it checks and what it writes are one step. */
export function acmeLog(database: Database, clock: Clock): SessionLog {
  return {
    async append(ref, request) {
      const { scope, session } = checkedRef(ref);
      const texts = factTexts(request);
      try {
        return await database.atomically(() => appendTo(database, { scope, session }, { request, texts }));
      } catch (error) {
        if (isAgentError(error, "STORE_FULL")) return { type: "full" };
        throw error;
      }
    },
    read: ({ scope, session }, { from = 1, limit = -1 } = {}) =>
      database.atomically(() =>
        database
          .all("SELECT body FROM facts WHERE scope = ? AND session = ? AND seq >= ? ORDER BY seq LIMIT ?", scope, session, from, limit)
          .map(({ body }) => factOf(body, { scope, session })),
      ),
    ...acmeLeases(database, clock),
    due: ({ now, limit = duePageMax, after }) =>
      database.atomically(() =>
        database
          .all(
            `SELECT scope, id, due FROM sessions
             WHERE due <= ? AND (lease_until IS NULL OR lease_until <= ?) AND (due, scope, id) > (?, ?, ?)
             ORDER BY due, scope, id LIMIT ?`,
            ...[now, clock.now()],
            ...(after ? [after.due, after.ref.scope, after.ref.session] : [-1, "", ""]),
            Math.max(0, limit),
          )
          .map((row): DueSession => ({ ref: { scope: String(row["scope"]), session: String(row["id"]) }, due: Number(row["due"]) })),
      ),
    setDue: ({ scope, session }, { expectedSeq, due }) =>
      database.atomically(() =>
        database.run(
          "UPDATE sessions SET due = ? WHERE scope = ? AND id = ? AND last_seq = ? AND state <> 'removed'",
          due,
          scope,
          session,
          expectedSeq,
        ),
      ),
    remove: (ref) => database.atomically(() => removeSession(database, checkedRef(ref))),
  };
}

interface Append {
  readonly request: AppendRequest;
  /** The facts as JSON, numbered. */
  readonly texts: readonly string[];
}

/** The checks in the order of the port: fenced, dup, closed, conflict. */
function appendTo(database: Database, { scope, session }: SessionRef, { request, texts }: Append): AppendOutcome {
  const row = openSession(database, { scope, session });
  const [epoch, tail] = [Number(row["epoch"]), Number(row["last_seq"])];
  if (request.epoch !== undefined && request.epoch !== epoch) return { type: "fenced", currentEpoch: epoch };
  const written = database.one("SELECT last_seq FROM batches WHERE scope = ? AND session = ? AND id = ?", scope, session, request.batchId);
  if (written) return { type: "dup", lastSeq: Number(written["last_seq"]) };
  if (row["state"] !== "open") return { type: "closed" };
  if (request.expectedSeq !== tail) return { type: "conflict", actualSeq: tail };
  const lastSeq = tail + texts.length;
  for (const [at, text] of texts.entries())
    database.run("INSERT INTO facts (scope, session, seq, body) VALUES (?, ?, ?, ?)", scope, session, tail + at + 1, text);
  database.run("INSERT INTO batches (scope, session, id, last_seq) VALUES (?, ?, ?, ?)", scope, session, request.batchId, lastSeq);
  const state = request.facts.at(-1)?.type === "session.closed" ? "closed" : "open";
  database.run("UPDATE sessions SET last_seq = ?, state = ? WHERE scope = ? AND id = ?", lastSeq, state, scope, session);
  if (request.due !== undefined) database.run("UPDATE sessions SET due = ? WHERE scope = ? AND id = ?", request.due, scope, session);
  if (request.release && request.epoch !== undefined)
    database.run("UPDATE sessions SET node = NULL, lease_until = NULL WHERE scope = ? AND id = ?", scope, session);
  keepProjection(database, { scope, session }, { before: row["projection"], facts: texts.map((text) => JSON.parse(text) as Fact) });
  return { type: "ok", lastSeq };
}

/** The id stays, so that it is never used again. */
function removeSession(database: Database, { scope, session }: SessionRef): void {
  openSession(database, { scope, session });
  for (const table of ["facts", "batches", "snapshots"])
    database.run(`DELETE FROM ${table} WHERE scope = ? AND session = ?`, scope, session);
  database.run("DELETE FROM blobs WHERE scope = ? AND owner = ?", scope, session);
  database.run(
    `UPDATE sessions SET last_seq = 0, state = 'removed', node = NULL, lease_until = NULL, due = NULL, updated_at = NULL, projection = NULL
     WHERE scope = ? AND id = ?`,
    scope,
    session,
  );
}
