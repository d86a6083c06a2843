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
import { BoundedSink } from "./bounded-sink.ts";
import type { EventSink } from "./event-sink.ts";
import { eventText, type FrameText, isDurable, joinTexts, sharedEventText, snapshotText, textCursor, wholeText } from "./frames.ts";
import { charsLeft, pieceChars } from "./json-pieces.ts";

/** How one reader wants the events of a session. */
export interface Subscription {
  readonly sink: EventSink;
  /** Durable events after it come first. Default: all of them. */
  readonly after?: EventCursor;
  /** Durable events up to it are told to `told` only: the reader has them. */
  readonly seen?: EventCursor;
  /** Only the events of this run. */
  readonly runId?: string;
  /** The stream carries many sessions: frames name theirs and have no ids. */
  readonly isShared?: boolean;
  /** What was heard since before the reader's place, in the place of snapshots; asked once. `undefined`: that is not known. */
  readonly early?: () => readonly SessionEvent[] | undefined;
  /** Nothing ephemeral but the text of each answer, whole and once, before its end: for readers that only add up. */
  readonly hasWholeText?: boolean;
  /** Told of durable events once they are queued. */
  told?(events: readonly DurableEvent[]): void;
  /** Told once after the last event, when nothing moves the session by itself. */
  rested?(): void;
  /** The session was removed before its last events could be read here. */
  removed?(): void;
}

export interface ReaderParts {
  readonly sessionId: string;
  readonly limits: HttpLimits;
  readonly clock: Clock;
  readonly catchUp: (reader: FeedReader) => void;
}

/** What a reader goes live with. */
export interface LiveStart {
  /** What the open lanes have said. */
  readonly lanes: readonly EphemeralEvent[];
  /** The lane of the answer that is being written. */
  readonly answering: number | undefined;
  readonly isResting: boolean;
}

const start: EventCursor = { seq: 0, k: 0 };

/** One reader of a session, as its feed drives it. A class: thousands wait in one process, and as closures each took two KB more. */
export class FeedReader {
  readonly #subscription: Subscription;
  readonly #parts: ReaderParts;
  readonly #sink: BoundedSink;
  #sent: EventCursor;
  #isLive = false;
  #isOver = false;
  #isRested = false;
  /** It was told that the session is closed. */
  #isClosed = false;
  #joinedLane: number | undefined;
  /** Something of that lane was told here. */
  #hasHeardJoined = false;
  /** The lane of the last answer the beginning of which was told again. */
  #begunLane: number | undefined;

  constructor(subscription: Subscription, parts: ReaderParts) {
    this.#subscription = subscription;
    this.#parts = parts;
    this.#sink = BoundedSink.over(subscription.sink, parts);
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

  get isLive(): boolean {
    return this.#isLive;
  }

  /** The lane of an answer that had begun before the reader came: it may have heard a part of it elsewhere. */
  get joinedLane(): number | undefined {
    return this.#joinedLane;
  }

  /** The end of the answer alone would leave a reader with the part that it heard elsewhere. */
  get lacksJoined(): boolean {
    return this.#joinedLane !== undefined && !this.#hasHeardJoined;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The last durable event that was queued. */
  get sent(): EventCursor {
    return this.#sent;
  }

  /** What is told here, the reader has already: another process was ahead of this one. */
  get isAhead(): boolean {
    const { seen } = this.#subscription;
    return seen !== undefined && compareCursors(seen, this.#sent) > 0;
  }

  /** Live: something of these lanes is told. What is told of an answer here is completed here. */
  heard(lanes: readonly EphemeralEvent[]): void {
    this.#hasHeardJoined ||= lanes.some(({ lane }) => lane === this.#joinedLane);
  }

  /** Live: frames that were encoded for all. */
  take(durable: readonly DurableEvent[], bytes: Uint8Array): void {
    // What does not fit is not queued: it comes with the rest of what was missed, once the queue has run empty.
    if (!this.#sink.hasRoom(bytes.byteLength)) {
      this.#stall();
      return;
    }
    this.#sink.write(bytes);
    this.#isRested = false;
    this.#tell(durable);
    this.#stallIfFull();
  }

  /** Live: events for this reader alone. */
  send(events: readonly SessionEvent[]): void {
    this.#write(events.map((event) => this.#frame(event)));
    this.#tell(events.filter(isDurable));
    this.#stallIfFull();
  }

  /** Live, of a reader that is ahead: only what is new to it, and nothing of lanes that it knows the end of. `answering`: before the first of them. */
  overtake(durable: readonly DurableEvent[], answering: number | undefined): void {
    this.#write(this.#again(durable, this.#answersFrom(answering)));
    this.#tell(durable);
    this.#stallIfFull();
  }

  /** What it missed, piece by piece, each as soon as there is room for it. `answering`: the lane of the answer being written before the first event. */
  async replay(events: readonly DurableEvent[], answering: number | undefined): Promise<void> {
    const answers = this.#answersFrom(answering);
    for (let from = 0; from < events.length && !this.#isOver; ) {
      const piece = pieceOf(events, from);
      from += piece.length;
      await this.#sink.pour(joinTexts(this.#again(piece, answers)));
      if (this.#isOver) return;
      this.#tell(piece.filter((event) => this.#isOurs(event))); // May end the stream: after what it is told of.
      this.reached(piece.at(-1) ?? this.#sent);
    }
  }

  /** True when all it missed was heard. */
  hearEarly(): boolean {
    const early = this.#subscription.early?.();
    if (!early) return false;
    this.send(early.filter((event) => !isDurable(event) || compareCursors(event, this.#sent) > 0));
    return true;
  }

  /** Nothing up to there is missing. */
  reached(cursor: EventCursor): void {
    if (compareCursors(cursor, this.#sent) > 0) this.#sent = cursor;
  }

  /** Nothing is missing: what the open lanes have said, and from now on everything. */
  goLive({ lanes, answering, isResting }: LiveStart): void {
    if (this.#isOver) return;
    this.#joinedLane = answering === this.#begunLane ? undefined : answering;
    this.#hasHeardJoined = false;
    this.heard(lanes);
    if (!this.isAhead && !this.hasWholeText) this.#write(lanes.map((lane) => snapshotText(lane, this.#parts.sessionId)));
    this.#isLive = true;
    if (isResting) this.rest();
    this.#stallIfFull();
  }

  rest(): void {
    // A reader that is ahead knows more than this process, which may rest in its past only.
    if (this.#isRested || this.#isOver || this.isAhead) return;
    this.#isRested = true;
    this.#subscription.rested?.();
  }

  /** Forgets the sink. */
  leave(): void {
    this.#isOver = true;
    this.#isLive = false;
  }

  /** Ends the stream as it should: what is queued still goes out. */
  end(): void {
    if (!this.#isOver) this.#sink.end();
  }

  /** Ends the stream of a session that was removed, with its last frames where nobody has read them here. */
  close(): void {
    if (this.#isOver) return;
    if (!this.#isClosed) this.#subscription.removed?.();
    this.end();
  }

  /** Cuts the stream. */
  cut(): void {
    if (!this.#isOver) this.#sink.destroy();
  }

  #isOurs(event: DurableEvent): boolean {
    return this.runId === undefined || event.runId === this.runId;
  }

  #frame(event: SessionEvent): FrameText {
    return this.isShared ? sharedEventText(event, this.#parts.sessionId) : eventText(event);
  }

  #tell(durable: readonly DurableEvent[]): void {
    const last = durable.at(-1);
    if (!last) return;
    this.#sent = last;
    this.#isRested = false;
    this.#isClosed ||= durable.some(({ type }) => type === "session_closed");
    this.#subscription.told?.(durable);
  }

  /** Who reads a run adds up what is said; of a session's history the messages are enough. */
  #answersFrom(lane: number | undefined): AnswerReplay {
    return createAnswerReplay({ lane, addsUp: this.runId !== undefined });
  }

  /** Frames of those that are new to it, each answer with what it may not have heard of it. */
  #again(events: readonly DurableEvent[], answers: AnswerReplay): readonly FrameText[] {
    const { seen = start } = this.#subscription;
    const texts: FrameText[] = [];
    for (const event of events) {
      const isNew = this.#isOurs(event) && compareCursors(event, seen) > 0;
      const untold = answers.before(event, isNew);
      if (!isNew) continue;
      if (event.type === "message_start" && event.role === "assistant") this.#begunLane = event.seq;
      if (this.hasWholeText) texts.push(this.#wholeText(event));
      else for (const one of untold) texts.push(snapshotText(one, this.#parts.sessionId));
      texts.push(this.#frame(event));
    }
    return texts;
  }

  #wholeText(event: DurableEvent): FrameText {
    const { after, seen } = this.#subscription;
    const text = event.type === "message_end" && event.message.role === "assistant" ? textOf(event.message) : "";
    const isTold = [after, seen].some((cursor) => cursor && compareCursors(cursor, textCursor(event)) === 0);
    return text === "" || isTold ? [] : wholeText(event, { sessionId: this.#parts.sessionId, text });
  }

  #write(texts: readonly FrameText[]): void {
    if (texts.length > 0) void this.#sink.pour(joinTexts(texts));
  }

  /** Too much is queued: nothing more until it has run empty. */
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

/** What is queued in one go. */
function pieceOf(events: readonly DurableEvent[], from: number): readonly DurableEvent[] {
  let to = from;
  for (let left = 4 * pieceChars; to < events.length && left >= 0; to += 1) left = charsLeft(events[to], left);
  return events.slice(from, to);
}
