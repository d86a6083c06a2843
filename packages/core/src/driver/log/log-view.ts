/*
 * Owns: what this process knows about the log of one session: the state, the seq up to which it has read, the seq that the log is known to reach.
 * Does not own: what is appended and published (the driver).
 */
import type { AgentError } from "../../errors.ts";
import type { DurableEvent } from "../../loop/event.ts";
import type { Fact } from "../../loop/fact.ts";
import { foldAll } from "../../loop/fold.ts";
import { emptyState, isAtRest, type State } from "../../loop/state.ts";
import { firstFlaw, messageFlaw } from "../../message/message-flaws.ts";
import type { EventCursor } from "../../protocol/cursor.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { Deps } from "../setup/session-deps.ts";
import { internalError } from "../setup/user-code-errors.ts";
import { foldReadFacts } from "./fold-read-facts.ts";
import { readNewFacts } from "./read-new-facts.ts";
import { retryStoreRequest } from "./retry-store-request.ts";
import { createStoredSnapshots, type LoadedFold, type StoredSnapshots } from "./stored-fold-snapshots.ts";

/** A state that replaces the previous one. */
export interface Adoption {
  readonly state: State;
  /** The events to publish, of facts that the previous state did not include. */
  readonly events: readonly DurableEvent[];
  /** Facts up to this seq were read before, or are older than this handle. This handle may lack events of the lanes that these facts opened. */
  readonly oldSeq: number;
}

/** A batch that this handle has appended. */
export interface AppendedBatch {
  readonly state: State;
  readonly events: readonly DurableEvent[];
  /** An upper bound of the batch's bytes in the log. */
  readonly bytes: number;
  readonly facts: readonly Fact[];
  /** The facts as the log has them, if a data policy left content out. */
  readonly stored?: readonly Fact[];
}

/** What a view reports to its session. */
export interface LogViewHost {
  /** How long a read retries while the store is unavailable, in milliseconds. */
  readonly outageMs: number;
  /** Called when the view has read facts that others appended, before it adopts the new state. */
  othersAppended(state: State): void;
  adopted(adoption: Adoption): void;
}

export class LogView {
  readonly #deps: Deps;
  readonly #snapshots: StoredSnapshots;
  readonly #session: LogViewHost;
  #state: State = emptyState;
  /** The state as the log has it, while this process holds content of the open run that is not stored. */
  #stored: State | undefined;
  /** The last state before the store was lost, until the log is read again. */
  #lost: State | undefined;
  #loading: Promise<void> | undefined;
  #wasRecovered = false;
  /** Seq up to which the log is known to reach. */
  #tailSeq = 0;
  /** The events of facts up to this seq are not published when the facts are read: they were published already, or are older than this handle. */
  #oldSeq = Number.POSITIVE_INFINITY;
  /** `#version` counts the calls of `invalidate`; `#readVersion` is its value at the start of the last read that succeeded. */
  #version = 1;
  #readVersion = 0;
  #tooNew: AgentError | undefined;
  #lastEvent: EventCursor | undefined;
  /** True after a read that found no fact of a newer version, until `hasJustClosed` is called. */
  #isOpen = false;

  constructor(deps: Deps, session: LogViewHost) {
    this.#deps = deps;
    this.#snapshots = createStoredSnapshots(deps);
    this.#session = session;
  }

  get state(): State {
    return this.#state;
  }

  /** True if this process holds content of the open run that the log does not have. */
  get holdsMore(): boolean {
    return this.#stored !== undefined;
  }

  /** True if a run was open when the log was loaded, and the session has not been at rest since. */
  get wasRecovered(): boolean {
    return this.#wasRecovered;
  }

  /** The last state before the store was lost, until the log is read again. */
  get staleState(): State | undefined {
    return this.#state.seq === 0 ? this.#lost : undefined;
  }

  /** SESSION_TOO_NEW: a newer version has appended to the log. The facts before that can be read; nothing can be appended. */
  get tooNew(): AgentError | undefined {
    return this.#tooNew;
  }

  /** Cursor of the last durable event up to the state; `undefined` before the log is read, or if the state's snapshot does not hold the cursor. */
  get lastEvent(): EventCursor | undefined {
    return this.#lastEvent;
  }

  /** Called when `tooNew` is set. True only for the first call after that, so that watchers are notified once. */
  hasJustClosed(): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    return wasOpen;
  }

  /** True if the log may hold facts that were not read yet. */
  get isBehind(): boolean {
    return this.#tailSeq > this.#state.seq;
  }

  /** Reads the log once; after a failure, the next call reads it again. @throws AgentError SESSION_CORRUPT, SESSION_AGENT_MISMATCH, STORE_* */
  load(): Promise<void> {
    this.#loading ??= this.read().then(
      () => {
        this.#wasRecovered = !isAtRest(this.#state);
        this.#oldSeq = 0;
        this.#lost = undefined;
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw internalError(this.#deps, "The log could not be folded", error);
      },
    );
    return this.#loading;
  }

  /** Reads and folds what others have appended. @throws as `load` */
  async read(): Promise<void> {
    this.#tailSeq = 0;
    const version = this.#version;
    const before = this.#state;
    const ask = async (): Promise<LoadedFold> =>
      before.seq === 0
        ? this.#snapshots.load(this.#oldSeq)
        : { base: before, lastEvent: this.#lastEvent, ...(await readNewFacts(this.#deps, before.seq)) };
    const { base, lastEvent, facts, tooNew } = await retryStoreRequest(ask, {
      clock: this.#deps.clock,
      answerMs: this.#deps.isPrivate ? Number.POSITIVE_INFINITY : driverLimits.readMs,
      staysFor: () => this.#session.outageMs,
    });
    const { state, events } = foldReadFacts(base, facts, this.#deps.sessionId);
    this.#deps.bound.bind(state);
    this.#readVersion = version;
    this.#tooNew = tooNew;
    this.#isOpen ||= !tooNew;
    if (facts.length === 0 && base === before) return;
    reportFlaws(this.#deps, facts);
    this.#session.othersAppended(state);
    if (this.#stored) this.#stored = foldAll(this.#stored, facts);
    this.#lastEvent = lastOf(events) ?? lastEvent;
    this.adopt(
      this.#knownAfter(facts, state),
      events.filter(({ seq }) => seq > this.#oldSeq),
    );
  }

  /** Reads until one read has begun after the last `invalidate`, at most `refreshesMax` times. */
  async refresh(): Promise<void> {
    for (let times = 0; this.#readVersion < this.#version && times < driverLimits.refreshesMax; times++) await this.read();
  }

  /** Called when others may have appended facts: a read that began before this call does not count for `refresh`. */
  invalidate(): void {
    this.#version += 1;
  }

  /** Notes that others may have appended since the log was loaded. Without effect before `load`. */
  markStale(): void {
    if (this.#loading) this.#tailSeq = Number.MAX_SAFE_INTEGER;
  }

  /** Notes that the log reaches this seq. 0 (the log was removed) and `undefined` (not known) mean that the log has to be read. */
  noteTail(seq: number | undefined): void {
    this.#tailSeq = Math.max(this.#tailSeq, seq || Number.MAX_SAFE_INTEGER);
  }

  adopt(state: State, events: readonly DurableEvent[]): void {
    const oldSeq = Math.max(this.#state.seq, Math.min(this.#oldSeq, state.seq));
    this.#state = state;
    this.#session.adopted({ state, events, oldSeq });
  }

  /** Adopts the state of a batch that this handle has appended. */
  append({ state, events, bytes, facts, stored = facts }: AppendedBatch, isOwner: boolean): void {
    if (this.#stored || stored !== facts) this.#stored = foldAll(this.#stored ?? this.#state, stored);
    this.#lastEvent = lastOf(events) ?? this.#lastEvent;
    this.adopt(this.#knownAfter(stored, state), events);
    if (isOwner) this.#snapshots.grew(bytes);
  }

  /** Called when nothing is left to do now: ends the recovery if the session is at rest, and writes a snapshot if one is due. */
  rest(): void {
    if (isAtRest(this.#state)) this.#wasRecovered = false;
    this.#snapshots.onState(this.#stored ?? this.#state, this.#lastEvent);
  }

  /** The state to adopt. When a run finishes, this is the stored state, so that every process continues from the same state after the run. */
  #knownAfter(facts: readonly Fact[], state: State): State {
    const stored = this.#stored;
    if (!stored || !facts.some(({ type }) => type === "run.finished")) return state;
    this.#stored = undefined;
    return stored;
  }

  /** Drops the state, so that the next use reads the log again. */
  lose(error: AgentError): void {
    this.#loading = undefined;
    if (this.#oldSeq === 0) this.#oldSeq = this.#state.seq;
    if (this.#state.seq > 0 || !error.retryable) this.#lost = error.retryable ? this.#state : undefined;
    this.#state = emptyState;
    this.#stored = undefined;
    this.#lastEvent = undefined;
    this.#tooNew = undefined;
    this.#tailSeq = 0;
    this.#snapshots.forget();
  }
}

/** The cursor of the last event, copied so that the event itself can be collected. */
function lastOf(events: readonly DurableEvent[]): EventCursor | undefined {
  const last = events.at(-1);
  return last && { seq: last.seq, k: last.k };
}

/** Logs a warning for messages that an earlier build recorded unchecked: their readable parts are shown. */
function reportFlaws({ logger, sessionId }: Deps, facts: readonly Fact[]): void {
  for (const fact of facts) {
    const given =
      fact.type === "session.opened" ? fact.context : fact.type === "input.accepted" && fact.message ? [fact.message] : undefined;
    const flaw = given && firstFlaw(given, messageFlaw);
    const what = fact.type === "session.opened" ? "The context" : "An input";
    if (flaw !== undefined)
      logger.log("warn", `${what} of the session contains an invalid message: ${flaw}.`, { session: sessionId, seq: fact.seq });
  }
}
