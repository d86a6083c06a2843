/*
 * Owns: what this process knows of the log of one session: the state, up to where it was read, up to where the log is known to reach.
 * Does not own: what is appended and who is told (the driver).
 */
import type { AgentError } from "../../errors.ts";
import type { DurableEvent } from "../../loop/event.ts";
import type { Fact } from "../../loop/fact.ts";
import { emptyState, isAtRest, type State } from "../../loop/state.ts";
import { firstFlaw, messageFlaw } from "../../message/sound-message.ts";
import type { EventCursor } from "../../protocol/cursor.ts";
import type { Deps } from "../setup/deps.ts";
import { driverLimits } from "../setup/session-options.ts";
import { internalError } from "../setup/user-code.ts";
import { type AskOptions, askStore } from "./ask-store.ts";
import { catchUp } from "./catch-up.ts";
import { createFoldSnapshots, type FoldSnapshots, type LoadedFold } from "./fold-snapshots.ts";
import { readNews } from "./read-news.ts";

/** A state that takes the place of the one before. */
export interface Adoption {
  readonly state: State;
  /** What is to be told of it. */
  readonly events: readonly DurableEvent[];
  /** What was opened up to here was not told by this handle, or long ago. */
  readonly oldSeq: number;
}

/** A batch that this handle has appended. */
export interface AppendedBatch {
  readonly state: State;
  readonly events: readonly DurableEvent[];
  /** An upper bound of its bytes in the log. */
  readonly bytes: number;
}

export interface LogViewOptions extends Pick<AskOptions, "staysFor"> {
  /** Others have appended: what follows from that alone, before it is adopted. */
  readonly onForeign: (state: State) => void;
  readonly onAdopt: (adoption: Adoption) => void;
}

export class LogView {
  readonly #deps: Deps;
  readonly #snapshots: FoldSnapshots;
  readonly #options: LogViewOptions;
  #state: State = emptyState;
  /** What could not be read again. */
  #lost: State | undefined;
  #loading: Promise<void> | undefined;
  #wasRecovered = false;
  /** Seq up to which the log is known to reach. */
  #tailSeq = 0;
  /** What is read up to here is no news: it was told, or is older than this handle. */
  #oldSeq = Number.POSITIVE_INFINITY;
  /** Raised by everybody who may know of more than was read, and what it was when the last reading began. */
  #age = 1;
  #freshAge = 0;
  #tooNew: AgentError | undefined;
  #lastEvent: EventCursor | undefined;
  /** Everything that was read could be understood. */
  #isOpen = false;

  constructor(deps: Deps, options: LogViewOptions) {
    this.#deps = deps;
    this.#snapshots = createFoldSnapshots(deps);
    this.#options = options;
  }

  get state(): State {
    return this.#state;
  }

  /** A run was open when the log was read, and has not rested since. */
  get wasRecovered(): boolean {
    return this.#wasRecovered;
  }

  /** The state that was lost with the store, until it can be read again. */
  get staleState(): State | undefined {
    return this.#state.seq === 0 ? this.#lost : undefined;
  }

  /** SESSION_TOO_NEW: the log goes on in a newer version than this one. What comes before that can be read, and nothing be added. */
  get tooNew(): AgentError | undefined {
    return this.#tooNew;
  }

  /** Cursor of the last durable event up to the state; `undefined` where it was read from a snapshot that does not say. */
  get lastEvent(): EventCursor | undefined {
    return this.#lastEvent;
  }

  /** True once when the log, which could be added to so far, can no longer: who came to move the session is to be told. */
  hasJustClosed(): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    return wasOpen;
  }

  /** Others have appended what was not read yet. */
  get isBehind(): boolean {
    return this.#tailSeq > this.#state.seq;
  }

  /** Reads the log, once. @throws AgentError SESSION_CORRUPT, SESSION_AGENT_MISMATCH, STORE_* */
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

  /** Folds what others have appended. @throws as `load` */
  async read(): Promise<void> {
    this.#tailSeq = 0;
    const age = this.#age;
    const before = this.#state;
    const ask = async (): Promise<LoadedFold> =>
      before.seq === 0
        ? this.#snapshots.load(this.#oldSeq)
        : { base: before, told: this.#lastEvent, ...(await readNews(this.#deps, before.seq)) };
    const { base, told, facts, tooNew } = await askStore(ask, {
      clock: this.#deps.clock,
      answerMs: this.#deps.isPrivate ? Number.POSITIVE_INFINITY : driverLimits.readMs,
      staysFor: this.#options.staysFor,
    });
    const { state, events } = catchUp(base, facts, this.#deps.sessionId);
    this.#deps.bound.bind(state);
    this.#freshAge = age;
    this.#tooNew = tooNew;
    this.#isOpen ||= !tooNew;
    if (facts.length === 0 && base === before) return;
    reportFlaws(this.#deps, facts);
    this.#options.onForeign(state);
    this.#lastEvent = lastOf(events) ?? told;
    this.adopt(
      state,
      events.filter(({ seq }) => seq > this.#oldSeq),
    );
  }

  /** The same, unless all that anybody knew at the last `growOld` was read since. A reading that began before it does not count. */
  async refresh(): Promise<void> {
    for (let times = 0; this.#freshAge < this.#age && times < driverLimits.refreshesMax; times++) await this.read();
  }

  /** Somebody came who may know of what others have appended meanwhile. */
  growOld(): void {
    this.#age += 1;
  }

  /** The log may hold more than was read, where it was read at all. */
  doubt(): void {
    if (this.#loading) this.#tailSeq = Number.MAX_SAFE_INTEGER;
  }

  /** The log reaches up to here; 0: it was removed, nothing: who knows. */
  noteTail(seq: number | undefined): void {
    this.#tailSeq = Math.max(this.#tailSeq, seq || Number.MAX_SAFE_INTEGER);
  }

  adopt(state: State, events: readonly DurableEvent[]): void {
    const oldSeq = Math.max(this.#state.seq, Math.min(this.#oldSeq, state.seq));
    this.#state = state;
    this.#options.onAdopt({ state, events, oldSeq });
  }

  /** A batch of this handle is in the log. */
  append({ state, events, bytes }: AppendedBatch, isOwner: boolean): void {
    this.#lastEvent = lastOf(events) ?? this.#lastEvent;
    this.adopt(state, events);
    if (isOwner) this.#snapshots.grew(bytes);
  }

  /** Nothing is to be done now: what was recovered is dealt with when nothing moves any more, and there is time for a snapshot. */
  rest(): void {
    if (isAtRest(this.#state)) this.#wasRecovered = false;
    this.#snapshots.heed(this.#state, this.#lastEvent);
  }

  /** Forgets all, so that the next use reads it again. */
  lose(error: AgentError): void {
    this.#loading = undefined;
    if (this.#oldSeq === 0) this.#oldSeq = this.#state.seq;
    if (this.#state.seq > 0 || !error.retryable) this.#lost = error.retryable ? this.#state : undefined;
    this.#state = emptyState;
    this.#lastEvent = undefined;
    this.#tooNew = undefined;
    this.#tailSeq = 0;
    this.#snapshots.forget();
  }
}

/** Where the last of them stands, without holding it. */
function lastOf(events: readonly DurableEvent[]): EventCursor | undefined {
  const last = events.at(-1);
  return last && { seq: last.seq, k: last.k };
}

/** Tells operators of messages that an earlier build recorded unchecked: they are shown as far as they can be read. */
function reportFlaws({ logger, sessionId }: Deps, facts: readonly Fact[]): void {
  for (const fact of facts) {
    const given =
      fact.type === "session.opened" ? fact.context : fact.type === "input.accepted" && fact.message ? [fact.message] : undefined;
    const flaw = given && firstFlaw(given, messageFlaw);
    const what = fact.type === "session.opened" ? "The context" : "An input";
    if (flaw !== undefined)
      logger.log("warn", `${what} of the session holds what is no message: ${flaw}.`, { session: sessionId, seq: fact.seq });
  }
}
