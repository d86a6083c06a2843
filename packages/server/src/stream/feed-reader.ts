import type { Clock } from "@loopwright/core/ports";
import {
  type AnswerReplay,
  compareCursors,
  createAnswerReplay,
  type DurableEvent,
  type EphemeralEvent,
  type EventCursor,
  type SessionEvent,
  textOf,
} from "@loopwright/core/protocol";
import type { HttpLimits } from "../server-limits.ts";
import { BoundedSendQueue } from "./bounded-send-queue.ts";
import type { EventSink } from "./event-sink.ts";
import { charsLeft, pieceSize } from "./json-in-pieces.ts";
import { eventText, type FrameText, isDurable, joinTexts, namedText, sharedEventText, textCursor, wholeText } from "./sse-frames.ts";

/** The options of one reader of a session's events. */
export interface Subscription {
  readonly sink: EventSink;
  /** The stream begins with the durable events after this cursor. Default: with all of them. */
  readonly after?: EventCursor;
  /** Durable events up to this cursor count as sent without being sent, because the reader has them. */
  readonly seen?: EventCursor;
  /** Only the events of this run. */
  readonly runId?: string;
  /** The stream carries many sessions: each frame names its session and has no id. */
  readonly isShared?: boolean;
  /** The events since the reader's cursor, deltas included, sent instead of a replay and snapshots. Given once; `undefined` if some are missing. */
  readonly early?: () => readonly SessionEvent[] | undefined;
  /** Sends no ephemeral events but the whole text of each answer, once, before its end: for readers that only concatenate text. */
  readonly hasWholeText?: boolean;
  /** Called with durable events once they are queued. */
  notified?(events: readonly DurableEvent[]): void;
  /** Called once after the last event, when the session rests. */
  rested?(): void;
  /** Called if the session was removed before its last events could be read here. */
  removed?(): void;
}

export interface ReaderParts {
  readonly sessionId: string;
  readonly limits: HttpLimits;
  readonly clock: Clock;
  readonly catchUp: (reader: FeedReader) => void;
}

/** The state of the session at the moment when a reader goes live. */
export interface LiveStart {
  /** Snapshots of the open lanes. */
  readonly lanes: readonly EphemeralEvent[];
  /** The lane of the answer that is being written. */
  readonly answering: number | undefined;
  readonly isResting: boolean;
}

const start: EventCursor = { seq: 0, k: 0 };

/** One reader of a session, driven by its feed. A class, because thousands wait in one process and closures took 2 KB more for each. */
export class FeedReader {
  readonly #subscription: Subscription;
  readonly #parts: ReaderParts;
  readonly #sink: BoundedSendQueue;
  #sent: EventCursor;
  #isLive = false;
  #isOver = false;
  #isRested = false;
  /** True once a frame was sent: the first frame names the session. */
  #isNamed = false;
  /** True once the event `session_closed` was queued. */
  #isClosed = false;
  #joinedLane: number | undefined;
  /** True once ephemeral events of `#joinedLane` were sent here. */
  #hasReceivedJoined = false;
  /** The lane of the last answer whose `message_start` was replayed here. */
  #begunLane: number | undefined;

  constructor(subscription: Subscription, parts: ReaderParts) {
    this.#subscription = subscription;
    this.#parts = parts;
    this.#sink = BoundedSendQueue.over(subscription.sink, parts);
    this.#sent = subscription.after ?? start;
  }

  get isShared(): boolean {
    return this.#subscription.isShared ?? false;
  }

  get hasWholeText(): boolean {
    return this.#subscription.hasWholeText ?? false;
  }

  get runId(): string | undefined {
    return this.#subscription.runId;
  }

  /** True if no frame has named the session yet, so that the next ephemeral event must name it. */
  get isUnnamed(): boolean {
    return !this.#isNamed;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** The lane of an answer that had begun before the reader went live: the reader may have received a part of it from another process. */
  get joinedLane(): number | undefined {
    return this.#joinedLane;
  }

  /** True if nothing of the joined answer was sent here. The end of the answer alone would leave the reader with the part that it received elsewhere. */
  get lacksJoined(): boolean {
    return this.#joinedLane !== undefined && !this.#hasReceivedJoined;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The last durable event that was queued. */
  get sent(): EventCursor {
    return this.#sent;
  }

  /** True if the reader has newer events than were sent here: it got them from a process that was ahead. */
  get isAhead(): boolean {
    const { seen } = this.#subscription;
    return seen !== undefined && compareCursors(seen, this.#sent) > 0;
  }

  /** Live: notes that these ephemeral events were sent. An answer that is partly sent here is completed here. */
  received(lanes: readonly EphemeralEvent[]): void {
    this.#hasReceivedJoined ||= lanes.some(({ lane }) => lane === this.#joinedLane);
  }

  /** Live: queues frames that were encoded once for all readers. */
  take(durable: readonly DurableEvent[], bytes: Uint8Array): void {
    // Frames that do not fit are not queued: their events are replayed with all others that were missed, once the queue is empty.
    if (!this.#sink.hasRoom(bytes.byteLength)) {
      this.#stall();
      return;
    }
    this.#sink.write(bytes);
    this.#isNamed = true;
    this.#isRested = false;
    this.#notify(durable);
    this.#stallIfFull();
  }

  /** Live: encodes and queues events for this reader alone. */
  send(events: readonly SessionEvent[]): void {
    this.#write(events.map((event) => this.#frame(event)));
    this.#notify(events.filter(isDurable));
    this.#stallIfFull();
  }

  /**
   * Live, for a reader that cannot take the shared frames: sends the durable events that are new to it, and before the end of an answer what it may
   * lack of that answer. `answering`: the lane of the answer being written before the first event.
   */
  overtake(durable: readonly DurableEvent[], answering: number | undefined): void {
    this.#write(this.#again(durable, this.#answersFrom(answering)));
    this.#notify(durable);
    this.#stallIfFull();
  }

  /** Sends the missed events in pieces, each as soon as the queue has room. `answering`: see `overtake`. */
  async replay(events: readonly DurableEvent[], answering: number | undefined): Promise<void> {
    const answers = this.#answersFrom(answering);
    for (let from = 0; from < events.length && !this.#isOver; ) {
      const piece = pieceOf(events, from);
      from += piece.length;
      const texts = this.#again(piece, answers);
      this.#isNamed ||= texts.length > 0;
      await this.#sink.pour(joinTexts(texts));
      if (this.#isOver) return;
      this.#notify(piece.filter((event) => this.#isOurs(event))); // May end the stream, so it comes after the frames.
      this.reached(piece.at(-1) ?? this.#sent);
    }
  }

  /** Sends the early events. True if they are all that the reader missed. */
  receiveEarly(): boolean {
    const early = this.#subscription.early?.();
    if (!early) return false;
    this.send(early.filter((event) => !isDurable(event) || compareCursors(event, this.#sent) > 0));
    return true;
  }

  /** Notes that the reader misses no event up to the cursor. */
  reached(cursor: EventCursor): void {
    if (compareCursors(cursor, this.#sent) > 0) this.#sent = cursor;
  }

  /** Called when no durable event is missing: sends snapshots of the open lanes, and every event from now on. */
  goLive({ lanes, answering, isResting }: LiveStart): void {
    if (this.#isOver) return;
    this.#joinedLane = answering === this.#begunLane ? undefined : answering;
    this.#hasReceivedJoined = false;
    this.received(lanes);
    if (!this.isAhead && !this.hasWholeText) this.#write(lanes.map((lane) => namedText(lane, this.#parts.sessionId)));
    this.#isLive = true;
    if (isResting) this.rest();
    this.#stallIfFull();
  }

  rest(): void {
    // A reader that is ahead has newer events: the session may have work again that this process has not seen yet.
    if (this.#isRested || this.#isOver || this.isAhead) return;
    this.#isRested = true;
    this.#subscription.rested?.();
  }

  /** Stops sending to the reader. */
  leave(): void {
    this.#isOver = true;
    this.#isLive = false;
  }

  /** Ends the stream after the queued frames. */
  end(): void {
    if (!this.#isOver) this.#sink.end();
  }

  /** Ends the stream of a removed session; before that, calls `removed` if `session_closed` was not sent here. */
  close(): void {
    if (this.#isOver) return;
    if (!this.#isClosed) this.#subscription.removed?.();
    this.end();
  }

  /** Cuts the stream at once. */
  cut(): void {
    if (!this.#isOver) this.#sink.destroy();
  }

  #isOurs(event: DurableEvent): boolean {
    return this.runId === undefined || event.runId === this.runId;
  }

  #frame(event: SessionEvent): FrameText {
    if (this.isShared) return sharedEventText(event, this.#parts.sessionId);
    return this.#isNamed || isDurable(event) ? eventText(event) : namedText(event, this.#parts.sessionId);
  }

  #notify(durable: readonly DurableEvent[]): void {
    const last = durable.at(-1);
    if (!last) return;
    this.#sent = last;
    this.#isRested = false;
    this.#isClosed ||= durable.some(({ type }) => type === "session_closed");
    this.#subscription.notified?.(durable);
  }

  /** A reader of one run concatenates deltas, so new answers are replayed as deltas; a reader of the whole session needs only the messages. */
  #answersFrom(lane: number | undefined): AnswerReplay {
    return createAnswerReplay({ lane, addsUp: this.runId !== undefined });
  }

  /** Frames of the events that are new to the reader; before the end of an answer, what the reader may lack of it. */
  #again(events: readonly DurableEvent[], answers: AnswerReplay): readonly FrameText[] {
    const { seen = start } = this.#subscription;
    const texts: FrameText[] = [];
    for (const event of events) {
      const isNew = this.#isOurs(event) && compareCursors(event, seen) > 0;
      const unpublished = answers.before(event, isNew);
      if (!isNew) continue;
      if (event.type === "message_start" && event.role === "assistant") this.#begunLane = event.seq;
      if (this.hasWholeText) texts.push(this.#wholeText(event));
      else for (const one of unpublished) texts.push(namedText(one, this.#parts.sessionId));
      texts.push(this.#frame(event));
    }
    return texts;
  }

  #wholeText(event: DurableEvent): FrameText {
    const { after, seen } = this.#subscription;
    const text = event.type === "message_end" && event.message.role === "assistant" ? textOf(event.message) : "";
    const isNotified = [after, seen].some((cursor) => cursor && compareCursors(cursor, textCursor(event)) === 0);
    return text === "" || isNotified ? [] : wholeText(event, { sessionId: this.#parts.sessionId, text });
  }

  #write(texts: readonly FrameText[]): void {
    if (texts.length === 0) return;
    this.#isNamed = true;
    void this.#sink.pour(joinTexts(texts));
  }

  /** If too much is queued, sends nothing more until the queue is empty. */
  #stallIfFull(): void {
    if (!this.#sink.hasRoom(0)) this.#stall();
  }

  #stall(): void {
    if (this.#isOver) return;
    this.#isLive = false;
    this.#sink.onDrain(() => {
      if (!this.#isOver) this.#parts.catchUp(this);
    });
  }
}

/** The next events to queue at once, limited by their text. */
function pieceOf(events: readonly DurableEvent[], from: number): readonly DurableEvent[] {
  let to = from;
  for (let left = 4 * pieceSize; to < events.length && left >= 0; to += 1) left = charsLeft(events[to], left);
  return events.slice(from, to);
}
