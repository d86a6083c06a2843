/*
 * Owns: one hash chain of entries for each scope, in the log of a store, in segments; which segments are removed.
 * Does not own: what is recorded (audit-observer), how a chain grows (audit-chain), how a store appends.
 * Invariants
 *  D1 the entries of a scope are one chain over all nodes;
 *  D2 an entry that was handed over is written, or the logger gets an error;
 *  D3 the chain is in a scope of its own: erasing sessions, or a scope, does not touch it;
 *  D4 entries are removed in whole segments, the oldest first, after an entry of the chain has reported it with the hash of the last of them.
 */
import { AgentError, isAgentError } from "@loopwright/core";
import { silentLogger, systemClock } from "@loopwright/core/memory";
import { type Clock, isId, type Logger, type SessionLog } from "@loopwright/core/ports";
import { AuditChain } from "./audit-chain.ts";
import type { AuditEntry, AuditRecord } from "./audit-entry.ts";
import { closedAction, noteSegment, removedAction, segmentEntries, segmentRef, segmentsOf } from "./audit-segments.ts";
import { type AuditVerdict, verifyChain } from "./verify-chain.ts";

export interface AuditLogOptions {
  /** The log of the store that all nodes share. */
  readonly log: SessionLog;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Entries of a segment, from 2 on. Default 10,000. */
  readonly segmentEntries?: number;
  /** Segments of a scope; beyond that the oldest is removed. Default 100: a million entries. */
  readonly segmentsMax?: number;
  /** A segment whose last entry is older is removed when the next one is full. Default 400 days. */
  readonly keepMs?: number;
  /** Scopes whose end is remembered in this process; that of another is read again from the store. Default 1,000. */
  readonly scopesMax?: number;
}

export interface AuditLog {
  /** Appends an entry; resolves when it is durable. @throws AgentError STORE_*, INPUT_INVALID for a scope that is none */
  record(scope: string, record: AuditRecord): Promise<AuditEntry>;
  /** The entries from `from` (default 1) on that are kept, at most `limit` (default 1,000). @throws AgentError STORE_* */
  list(scope: string, options?: { readonly from?: number; readonly limit?: number }): Promise<readonly AuditEntry[]>;
  /**
   * Looks through all segments of the chain. `head`: an entry that was noted before, as `<seq>:<hash>`: without it, entries that were cut off at the
   * end are not missed. @throws AgentError STORE_* where nothing can be read, INPUT_INVALID
   */
  verify(scope: string, options?: { readonly head?: string }): Promise<AuditVerdict>;
  /** Resolves when everything that was handed over is written. */
  settled(): Promise<void>;
}

interface Open {
  readonly chain: AuditChain;
  /** The writes of this process, one after the other. */
  writing: Promise<unknown>;
  /** How many of them are not done. */
  waiting: number;
}

export function auditLog(options: AuditLogOptions): AuditLog {
  const { log, clock = systemClock, logger = silentLogger, scopesMax = 1_000 } = options;
  /** In the order of their last entries. */
  const open = new Map<string, Open>();

  const opened = (scope: string): Open => {
    const found = open.get(scope) ?? { chain: new AuditChain({ log, clock, scope }), writing: Promise.resolve(), waiting: 0 };
    open.delete(scope);
    open.set(scope, found);
    for (const [name, { waiting }] of open) {
      if (open.size <= scopesMax) break;
      if (waiting === 0 && name !== scope) open.delete(name);
    }
    return found;
  };
  const report = (
    text: string,
    fields: { readonly scope: string; readonly action?: string; readonly session?: string | undefined },
    error: unknown,
  ) => logger.log("error", text, { ...fields, cause: isAgentError(error) ? error.code : "unknown" });

  return {
    record(scope, record) {
      if (!isId(scope)) return Promise.reject(noScope(scope));
      const own = opened(scope);
      const { chain } = own;
      own.waiting += 1;
      const written = own.writing.then(() => chain.write(record));
      own.writing = written
        .then(
          () =>
            endSegment(chain, scope, options).catch((error) =>
              report("Old entries of the audit log could not be removed.", { scope }, error),
            ),
          (error) =>
            report("An entry of the audit log could not be written.", { scope, action: record.action, session: record.session }, error),
        )
        .finally(() => {
          own.waiting -= 1;
        });
      return written;
    },
    async list(scope, { from = 1, limit = 1_000 } = {}) {
      if (!isId(scope)) throw noScope(scope);
      const segments = await segmentsOf(log, scope);
      const first = Math.max(
        0,
        segments.findLastIndex(({ firstSeq }) => firstSeq <= from),
      );
      const found: AuditEntry[] = [];
      for (const { number, firstSeq } of segments.slice(first)) {
        if (found.length >= limit) break;
        const page = { from: Math.max(1, from - firstSeq + 1), limit: limit - found.length };
        found.push(...(await segmentEntries(log, { scope, number }, page)));
      }
      return found;
    },
    async verify(scope, { head } = {}) {
      if (!isId(scope)) throw noScope(scope);
      const segments = await segmentsOf(log, scope);
      return verifyChain({ scope, head, segments, read: (number, page) => log.read(segmentRef(scope, number), page) });
    },
    async settled() {
      for (const { writing } of open.values()) await writing;
    },
  };
}

/** Closes a segment that is full, and removes the segments that are too many or too old. */
async function endSegment(chain: AuditChain, scope: string, options: AuditLogOptions): Promise<void> {
  const { log, clock = systemClock, segmentEntries: entriesMax = 10_000, segmentsMax = 100, keepMs = 400 * 86_400_000 } = options;
  if (chain.length < Math.max(2, entriesMax) - 1) return;
  const closing = await chain.write({ user: "system", action: closedAction, id: `${closedAction}/${chain.segment}` });
  const segments = await segmentsOf(log, scope);
  let last: AuditEntry | undefined;
  let count = 0;
  for (const { number } of segments.slice(0, -1)) {
    const { lastSeq } = await log.head(segmentRef(scope, number));
    const [end] = await segmentEntries(log, { scope, number }, { from: lastSeq, limit: 1 });
    const isTooMuch = segments.length - count >= segmentsMax || (end !== undefined && end.at < clock.now() - keepMs);
    if (!end || !isTooMuch) break;
    last = end;
    count += 1;
  }
  // The entry that opens the next segment: so each segment has one, and the directory can name it.
  const detail = last ? { through: String(last.seq), hash: last.hash } : {};
  const opening = await chain.write({
    user: "system",
    action: last ? removedAction : openedAction,
    detail,
    id: `${openedAction}/${closing.seq}`,
  });
  await noteSegment(log, scope, { opened: chain.segment, firstSeq: opening.seq });
  if (!last) return;
  const removed = segments.slice(0, count);
  for (const { number } of removed) await log.remove(segmentRef(scope, number));
  await noteSegment(log, scope, { removed: removed.at(-1)?.number ?? 0 });
}

const openedAction = "audit.segment-opened";

const noScope = (scope: string): AgentError =>
  new AgentError("INPUT_INVALID", { message: `\`${scope.slice(0, 80)}\` is no scope.`, fix: "Name one as its sessions have it." });
