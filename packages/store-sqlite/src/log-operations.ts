import { crc32 } from "node:zlib";
import type { AppendOutcome, SessionRef } from "@loopwright/core/ports";
import { removedMark } from "./erase-traces.ts";
import type { AppendAsk, LogPage } from "./operation.ts";
import { checkMark } from "./quarantine.ts";
import { seqLimit } from "./schema.ts";
import { findSession, openSession, type SessionRow } from "./session-rows.ts";
import { numberOf, type Statements, textOf } from "./statements.ts";
import { StoreFault } from "./store-fault.ts";

/** Most facts and about the most bytes of one page, so that a long read lets appends pass. */
const pageLimits: { readonly facts: number; readonly characters: number } = { facts: 1_000, characters: 1024 * 1024 };

/** Writes a batch, or gives the reason why not. The caller holds the write transaction. Throws SESSION_CORRUPT where the log is known to be damaged, or its last fact is not as it was written. */
export function append(statements: Statements, ask: AppendAsk): AppendOutcome {
  const session = openSession(statements, ask.ref);
  if (ask.epoch !== undefined && ask.epoch !== session.epoch) return { type: "fenced", currentEpoch: session.epoch };
  const written = statements.one("SELECT last_seq FROM batches WHERE session = ? AND batch = ?", session.key, ask.batchId);
  if (written) return { type: "dup", lastSeq: numberOf(written, "last_seq") };
  if (session.isRemoved || session.isClosed) return { type: "closed" };
  if (ask.expectedSeq !== session.lastSeq) return { type: "conflict", actualSeq: session.lastSeq };
  checkMark(statements, session);
  checkTail(statements, session);
  let { lastSeq, chain } = session;
  for (const body of ask.bodies) {
    lastSeq++;
    chain = crc32(body, chain);
    statements.run("INSERT INTO facts (id, body, chain) VALUES (?, ?, ?)", session.key * seqLimit + lastSeq, body, chain);
  }
  statements.run("INSERT INTO batches (session, batch, last_seq) VALUES (?, ?, ?)", session.key, ask.batchId, lastSeq);
  statements.run(
    "UPDATE sessions SET last_seq = ?1, chain = ?2, updated_at = ?3, closed = ?4, due = iif(?5, ?6, due), parent = coalesce(parent, ?8) WHERE key = ?7",
    ...[lastSeq, chain, ask.at, ask.closes ? 1 : 0, ask.due === undefined ? 0 : 1, ask.due ?? null, session.key, ask.parent ?? null],
  );
  if (ask.release && ask.epoch !== undefined) dropLease(statements, session.key);
  return { type: "ok", lastSeq };
}

/** Nothing is written behind a last fact that is missing or another's. */
function checkTail(statements: Statements, session: SessionRow): void {
  if (session.lastSeq === 0) return;
  const last = statements.one("SELECT chain FROM facts WHERE id = ?", session.key * seqLimit + session.lastSeq);
  if (!last || numberOf(last, "chain") !== session.chain) throw damaged(session, session.lastSeq);
}

export function dropLease(statements: Statements, key: number): void {
  statements.run("UPDATE sessions SET lease_node = NULL, lease_until = NULL, lease_ms = NULL, lease_owner = NULL WHERE key = ?", key);
}

/** The facts of a session from `from` on, as many as fit a page. */
export function read(statements: Statements, ref: SessionRef, { from, limit }: { readonly from: number; readonly limit: number }): LogPage {
  const session = findSession(statements, ref);
  return session ? readPage(statements, session, { from, limit }) : { text: "[]", count: 0, more: false };
}

/** A page of a log, verified against the chain. Throws SESSION_CORRUPT. */
export function readPage(
  statements: Statements,
  session: SessionRow,
  { from, limit }: { readonly from: number; readonly limit: number },
): LogPage {
  const last = Math.min(session.lastSeq, from + Math.min(limit, pageLimits.facts) - 1);
  if (from > last) return { text: "[]", count: 0, more: false };
  const base = session.key * seqLimit;
  const bodies: string[] = [];
  let chain = from === 1 ? 0 : numberOf(statements.one("SELECT chain FROM facts WHERE id = ?", base + from - 1), "chain");
  let characters = 0;
  for (const row of statements.each("SELECT id, body, chain FROM facts WHERE id BETWEEN ? AND ? ORDER BY id", base + from, base + last)) {
    const body = textOf(row, "body") ?? "";
    chain = crc32(body, chain);
    if (numberOf(row, "id") !== base + from + bodies.length || numberOf(row, "chain") !== chain)
      throw damaged(session, from + bodies.length);
    bodies.push(body);
    characters += body.length;
    if (characters >= pageLimits.characters) break;
  }
  const end = from + bodies.length - 1;
  const isShort = end < last && characters < pageLimits.characters;
  if (isShort || (end === session.lastSeq && chain !== session.chain)) throw damaged(session, end + 1);
  return { text: `[${bodies.join(",")}]`, count: bodies.length, more: end < session.lastSeq };
}

function damaged({ id }: SessionRow, seq: number): StoreFault {
  return new StoreFault({ code: "SESSION_CORRUPT", message: `The log of session \`${id}\` is damaged at fact ${seq}.` });
}

/** Deletes what belongs to a session and leaves a mark that keeps its id from being used again. */
export function remove(statements: Statements, ref: SessionRef): void {
  const { key } = openSession(statements, ref);
  statements.run("DELETE FROM facts WHERE id BETWEEN ? AND ?", key * seqLimit, key * seqLimit + seqLimit - 1);
  statements.run("DELETE FROM batches WHERE session = ?", key);
  statements.run("DELETE FROM drafts WHERE scope = ? AND session = ?", ref.scope, ref.session);
  statements.run("DELETE FROM owned_blobs WHERE scope = ? AND session = ?", ref.scope, ref.session);
  statements.run("DELETE FROM summaries WHERE session = ?", key);
  statements.run("DELETE FROM words WHERE rowid IN (SELECT id FROM texts WHERE session = ?)", key);
  const textCount = statements.run("DELETE FROM texts WHERE session = ?", key);
  // A repeated removal finds no words in the tables, though those of the first may still stand in the index.
  statements.run(
    "UPDATE sessions SET last_seq = 0, chain = 0, updated_at = 0, indexed_seq = 0, due = NULL, damage = NULL, removed = max(removed, ?) WHERE key = ?",
    ...[textCount > 0 ? removedMark.withWords : removedMark.withoutWords, key],
  );
  dropLease(statements, key);
}
