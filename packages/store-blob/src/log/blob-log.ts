import { AgentError, type Fact, type FactDraft, isAgentError } from "@loopwright/core";
import { type AppendOutcome, type AppendRequest, appendLimits, type SessionLog, type SessionRef } from "@loopwright/core/ports";
import type { BackgroundWork } from "../background-work.ts";
import type { KeyQueue } from "../key-queue.ts";
import { compactLog } from "./compact-log.ts";
import { dropDueMark, dueEntry, dueSessions, putDueMark } from "./due-marks.ts";
import { HeldSessions } from "./held-sessions.ts";
import { claimLog, releaseLease, renewLease, runningLease } from "./lease.ts";
import { type OpenLog, wholeState } from "./open-log.ts";
import type { OpenLogs } from "./open-logs.ts";
import { readFacts } from "./read-facts.ts";
import { type Forget, finishRemoval, removeLog } from "./remove-log.ts";
import { checkWritten, type EntryDraft, type EntryOutcome, writeEntry } from "./write-entry.ts";

/** Observers of all logs: the index and the view. */
export interface LogObserver {
  /** Before facts are written behind fact `lastSeq`; what it has put is there before they are. */
  writing(log: OpenLog, lastSeq: number): Promise<void>;
  /** After facts were written by this process. */
  written(log: OpenLog, facts: readonly Fact[]): void;
  readonly removed: Forget;
}

export interface BlobLogDeps {
  readonly logs: OpenLogs;
  readonly observer: LogObserver;
  readonly background: BackgroundWork;
  /** One log after the other is compacted: there is no hurry. */
  readonly compactions: KeyQueue;
  /** A log is compacted when so many slots lie after its checkpoint. */
  readonly compactAfter: number;
  /** How long sweeps pass a session that a lease was seen to hold, at most. */
  readonly heldLookMs: number;
}

/** The log of sessions as objects: one per batch, in slots that are written once. */
export function blobLog(deps: BlobLogDeps): SessionLog {
  const { logs } = deps;
  const isExclusive = logs.deps.blobs.exclusive !== undefined;
  const held = new HeldSessions(logs.deps.clock, deps.heldLookMs);
  return {
    async append(ref, request) {
      const batch = numberedBatch(request);
      const log = logs.of(ref);
      const outcome = await log.run(async () => {
        if (request.release) held.forget(ref);
        return append(deps, log, { request, lines: batch.lines }).catch(fullOutcome);
      });
      if (outcome.type === "ok") appended(deps, log, batch.facts);
      return outcome;
    },
    async read(ref, { from = 1, limit = Number.MAX_SAFE_INTEGER } = {}) {
      const log = logs.of(ref);
      const first = Math.max(1, from);
      return log.hold(async () => {
        const { lastSeq, damage } = await log.run(() => log.current());
        if (damage && first + limit - 1 > lastSeq) throw damage;
        return readFacts(log, { from: first, limit, lastSeq });
      });
    },
    async head(ref) {
      const log = logs.of(ref);
      return log.run(async () => {
        const state = await log.current();
        // A tail that is too early would pass for the tail.
        if (state.damage) throw state.damage;
        const lease = await runningLease(log, state);
        return { lastSeq: state.lastSeq, epoch: state.epoch, ...(lease ? { lease } : {}) };
      });
    },
    async claim(ref, claim) {
      const log = logs.of(ref);
      return log.run(() => claimLog(log, claim));
    },
    async renew(ref, lease) {
      const log = logs.of(ref);
      return log.run(() => renewLease(log, lease));
    },
    async release(ref, epoch) {
      const log = logs.of(ref);
      await log.run(async () => {
        held.forget(ref);
        await releaseLease(log, epoch);
      });
    },
    due: (options) => dueSessions({ logs, held, finish: (log) => finishRemoval(log, deps.observer.removed) }, options),
    async setDue(ref, options) {
      const log = logs.of(ref);
      await log.run(() => setDue(log, options));
    },
    async remove(ref) {
      const log = logs.of(ref);
      held.forget(ref);
      await log.run(() => removeLog(log, deps.observer.removed));
      notify(log, 0);
    },
    ...(isExclusive ? { subscribe: (ref: SessionRef, listener: (lastSeq: number) => void) => subscribe(logs.of(ref), listener) } : {}),
  };
}

interface AskedAppend {
  readonly request: AppendRequest;
  /** Its facts as JSON. */
  readonly lines: readonly string[];
}

async function append(deps: BlobLogDeps, log: OpenLog, { request, lines }: AskedAppend): Promise<AppendOutcome> {
  let verdict: AppendOutcome | undefined;
  let due = (await known(log)).due;
  let isKnownToIndex = false;
  const outcome = await writeEntry(log, async () => {
    let state = await known(log);
    verdict = state.judge(request);
    if (verdict) {
      // Whatever the answer is, the newest state gives it: a fenced writer has to learn that first.
      state = await log.withBatches(wholeState(await log.current()));
      verdict = state.judge(request);
    }
    if (verdict) return undefined;
    due = state.due;
    const header = headerOf(request, dueEntry(state, request.due));
    await Promise.all([header.due ? putDueMark(log, header.due) : undefined, deps.observer.writing(log, state.lastSeq)]);
    isKnownToIndex = true;
    return { header, lines };
  });
  if (outcome.type === "dropped") {
    // Of a session that was removed meanwhile nothing stays, not even the trace of a late call.
    if (isKnownToIndex && (await log.known()).isRemoved) deps.background.add(deps.observer.removed(log));
    return own(verdict, outcome) ?? { type: "unknown" };
  }
  if (outcome.type !== "written") return outcome;
  const state = await log.known();
  if (due && state.due?.slot !== due.slot) deps.background.add(dropDueMark(log, due));
  return { type: "ok", lastSeq: state.lastSeq };
}

function fullOutcome(error: unknown): AppendOutcome {
  if (isAgentError(error, "STORE_FULL")) return { type: "full" };
  throw error;
}

/** A duplicate that an earlier try of the same call wrote is no duplicate to the caller. */
function own(
  verdict: AppendOutcome | undefined,
  { mayBeOwn }: Extract<EntryOutcome, { readonly type: "dropped" }>,
): AppendOutcome | undefined {
  return verdict?.type === "dup" && mayBeOwn ? { type: "ok", lastSeq: verdict.lastSeq } : verdict;
}

async function known(log: OpenLog): Promise<Awaited<ReturnType<OpenLog["known"]>>> {
  return log.withBatches(wholeState(await log.known()));
}

function headerOf({ batchId, epoch, release, facts }: AppendRequest, due: EntryDraft["header"]["due"]): EntryDraft["header"] {
  return {
    batchId,
    ...(release && epoch !== undefined ? { released: epoch } : {}),
    ...(due === undefined ? {} : { due }),
    ...(facts.at(-1)?.type === "session.closed" ? { closes: true } : {}),
  };
}

function appended(deps: BlobLogDeps, log: OpenLog, facts: readonly Fact[]): void {
  deps.observer.written(log, facts);
  notify(log, facts.at(-1)?.seq ?? 0);
  deps.background.add(log.hold(() => compactWhenLong(deps, log)));
}

async function compactWhenLong({ compactAfter, compactions }: BlobLogDeps, log: OpenLog): Promise<void> {
  if (log.isCompacting || (await log.known()).tail.length < compactAfter) return;
  log.isCompacting = true;
  try {
    await compactions.run("", () => compactLog(log));
  } finally {
    log.isCompacting = false;
  }
}

async function setDue(log: OpenLog, { expectedSeq, due }: { readonly expectedSeq: number; readonly due: number | null }): Promise<void> {
  const before = (await log.current()).due;
  const outcome = await writeEntry(log, async () => {
    const state = wholeState(await log.current());
    if (state.lastSeq !== expectedSeq || state.isRemoved) return undefined;
    const spoken = dueEntry(state, due);
    if (spoken) await putDueMark(log, spoken);
    // Also when nothing changes: marks of writers that have died become void with the slot.
    return { header: { due: spoken === undefined ? state.due : spoken } };
  });
  if (outcome.type === "dropped") return;
  checkWritten(outcome, log);
  if (before && (await log.known()).due?.slot !== before.slot) await dropDueMark(log, before);
}

function notify(log: OpenLog, lastSeq: number): void {
  queueMicrotask(() => {
    for (const listener of [...log.listeners]) if (log.listeners.has(listener)) listener(lastSeq);
  });
}

function subscribe(log: OpenLog, listener: (lastSeq: number) => void): () => void {
  // A wrapper of its own, so that the same function may listen twice.
  const own = (lastSeq: number): void => listener(lastSeq);
  log.listeners.add(own);
  return () => log.listeners.delete(own);
}

/** The facts with their numbers, and as JSON. @throws AgentError INPUT_INVALID */
function numberedBatch({ facts, expectedSeq }: AppendRequest): { readonly facts: readonly Fact[]; readonly lines: readonly string[] } {
  if (facts.length === 0 || facts.length > appendLimits.facts)
    throw invalid(`The batch has ${facts.length} facts; 1 to ${appendLimits.facts} are allowed.`);
  const numbered = facts.map((draft, at) => numberedFact(draft, expectedSeq + at + 1));
  const lines = numbered.map(lineOf);
  let batchBytes = 0;
  for (const line of lines) {
    const bytes = Buffer.byteLength(line);
    batchBytes += bytes;
    if (bytes > appendLimits.factBytes) throw invalid(`A fact has ${bytes} bytes; at most ${appendLimits.factBytes} are allowed.`);
  }
  if (batchBytes > appendLimits.batchBytes)
    throw invalid(`The batch has ${batchBytes} bytes; at most ${appendLimits.batchBytes} are allowed.`);
  return { facts: numbered, lines };
}

function numberedFact(draft: FactDraft, seq: number): Fact {
  return { ...draft, seq };
}

function lineOf(fact: Fact): string {
  try {
    return JSON.stringify(fact);
  } catch {
    throw invalid(`A fact of type \`${fact.type}\` is not a JSON value.`);
  }
}

function invalid(message: string): AgentError {
  return new AgentError("INPUT_INVALID", { message });
}
