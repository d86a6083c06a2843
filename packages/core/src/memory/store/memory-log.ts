import type { Fact, FactDraft } from "../../loop/fact.ts";
import type { SessionRef } from "../../message/session-ref.ts";
import type { Clock } from "../../ports/clock.ts";
import type { AppendOutcome, AppendRequest, ClaimOutcome, DueOptions, DueSession, SessionLog } from "../../ports/session-log.ts";
import { checkBatch, checkedRef } from "../../stores/fact-texts.ts";
import type { MemorySession, MemorySessions } from "./memory-sessions.ts";

/**
 * The facts of all sessions as values in this process: they are kept by reference, never copied or serialised. `onRemoved` is called with a session
 * whose facts are gone, so that what lies beside them goes too.
 */
export function memoryLog(sessions: MemorySessions, clock: Clock, onRemoved: (ref: SessionRef) => void): SessionLog {
  return {
    async append(ref, request) {
      const session = openSession(sessions, ref);
      const outcome = appendTo(session, request);
      if (outcome.type === "ok") sessions.changed(session);
      if (outcome.type === "ok" && session.listeners.size > 0) notify(session, outcome.lastSeq);
      return outcome;
    },
    async read(ref, options) {
      const facts = sessions.find(ref)?.facts ?? [];
      const from = Math.max(1, options?.from ?? 1) - 1;
      return facts.slice(from, options?.limit === undefined ? undefined : from + options.limit);
    },
    async head(ref) {
      const session = sessions.find(ref);
      const lease = session && runningLease(session, clock);
      return { lastSeq: session?.facts.length ?? 0, epoch: session?.epoch ?? 0, ...(lease ? { lease } : {}) };
    },
    async claim(ref, claim) {
      const session = openSession(sessions, ref);
      const outcome = claimFor(session, claim, clock);
      sessions.changed(session);
      return outcome;
    },
    async renew(ref, { epoch, leaseMs }) {
      const session = sessions.find(ref);
      if (!session?.lease || session.epoch !== epoch) return false;
      session.lease = { node: session.lease.node, until: clock.monotonic() + leaseMs };
      sessions.changed(session);
      return true;
    },
    async release(ref, epoch) {
      const session = sessions.find(ref);
      if (session?.epoch !== epoch) return;
      session.lease = undefined;
      sessions.changed(session);
    },
    async due(options) {
      return dueOf(sessions, options);
    },
    async setDue(ref, { expectedSeq, due }) {
      const session = sessions.find(ref);
      if (!session || session.removed || session.facts.length !== expectedSeq) return;
      session.due = due;
      sessions.changed(session);
    },
    async remove(ref) {
      const session = openSession(sessions, ref);
      session.removed = true;
      session.due = null;
      session.lease = undefined;
      session.facts.length = 0;
      session.batches.clear();
      sessions.changed(session);
      notify(session, 0);
      onRemoved(ref);
    },
    subscribe(ref, listener) {
      const { listeners } = openSession(sessions, ref);
      // A wrapper of its own, so that the same function may listen twice.
      const own = (lastSeq: number): void => listener(lastSeq);
      listeners.add(own);
      return () => listeners.delete(own);
    },
  };
}

function openSession(sessions: MemorySessions, ref: SessionRef): MemorySession {
  return sessions.open(ref, () => freshSession(ref));
}

function freshSession(ref: SessionRef): MemorySession {
  return {
    ref: checkedRef(ref),
    facts: [],
    batches: new Map(),
    listeners: new Set(),
    epoch: 0,
    lease: undefined,
    due: null,
    removed: false,
  };
}

function appendTo(session: MemorySession, request: AppendRequest): AppendOutcome {
  const { facts } = session;
  checkBatch(request);
  if (request.epoch !== undefined && request.epoch !== session.epoch) return { type: "fenced", currentEpoch: session.epoch };
  const written = session.batches.get(request.batchId);
  if (written !== undefined) return { type: "dup", lastSeq: written };
  if (session.removed || facts.at(-1)?.type === "session.closed") return { type: "closed" };
  if (request.expectedSeq !== facts.length) return { type: "conflict", actualSeq: facts.length };
  for (const draft of request.facts) facts.push(numbered(draft, facts.length + 1));
  session.batches.set(request.batchId, facts.length);
  if (request.release && request.epoch !== undefined) session.lease = undefined;
  if (request.due !== undefined) session.due = request.due;
  return { type: "ok", lastSeq: facts.length };
}

/** A draft with the right number is kept by reference, without a copy. */
function numbered(draft: FactDraft, seq: number): Fact {
  return isNumbered(draft, seq) ? draft : { ...draft, seq };
}

function isNumbered(draft: FactDraft, seq: number): draft is Fact {
  return "seq" in draft && draft.seq === seq;
}

function dueOf(sessions: MemorySessions, { now, limit = 100, after }: DueOptions): readonly DueSession[] {
  const found: DueSession[] = [];
  if (limit <= 0) return found;
  for (const one of sessions.due(now, after)) if (found.push(one) >= limit) break;
  return found;
}

function notify(session: MemorySession, lastSeq: number): void {
  const listeners = [...session.listeners];
  void Promise.resolve().then(() => {
    for (const listener of listeners) if (session.listeners.has(listener)) listener(lastSeq);
  });
}

function claimFor(
  session: MemorySession,
  { node, leaseMs }: { readonly node: string; readonly leaseMs: number },
  clock: Clock,
): ClaimOutcome {
  const lease = runningLease(session, clock);
  if (lease && lease.node !== node) return { type: "held", ...lease };
  session.epoch++;
  session.lease = { node, until: clock.monotonic() + leaseMs };
  return { type: "claimed", epoch: session.epoch, lastSeq: session.facts.length };
}

function runningLease({ lease }: MemorySession, clock: Clock): { readonly node: string; readonly remainingMs: number } | undefined {
  const remainingMs = lease ? lease.until - clock.monotonic() : 0;
  return lease && remainingMs > 0 ? { node: lease.node, remainingMs } : undefined;
}
