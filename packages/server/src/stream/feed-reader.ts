import type { Clock } from "@loopwright/core/ports";
import { compareCursors, type DurableEvent, type EphemeralEvent, type EventCursor, type SessionEvent } from "@loopwright/core/protocol";
import type { ServerLimits } from "../server-limits.ts";
import type { EventSink } from "./event-sink.ts";
import { encodeFrames, frameOf, isDurable, sharedFrameOf, snapshotFrame } from "./frames.ts";

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
  /** Told of durable events once they are queued. */
  told?(events: readonly DurableEvent[]): void;
  /** Told once after the last event, when nothing moves the session by itself. */
  rested?(): void;
}

/** One reader of a session, as its feed drives it. */
export interface FeedReader {
  readonly isLive: boolean;
  readonly isOver: boolean;
  readonly isShared: boolean;
  readonly runId: string | undefined;
  /** The last durable event that was queued. */
  readonly sent: EventCursor;
  /** Live: frames that were encoded for all. */
  take(durable: readonly DurableEvent[], bytes: Uint8Array): void;
  /** Live: events for this reader alone. */
  send(events: readonly SessionEvent[]): void;
  /** What it missed, piece by piece; resolves when there is room for more. */
  replay(events: readonly DurableEvent[]): Promise<void>;
  /** Nothing up to there is missing. */
  reached(cursor: EventCursor): void;
  /** Nothing is missing: what the open lanes have said, and from now on everything. */
  goLive(lanes: readonly EphemeralEvent[], isResting: boolean): void;
  rest(): void;
  /** Forgets the sink. */
  leave(): void;
  /** Cuts the stream. */
  cut(): void;
}

export interface ReaderParts {
  readonly sessionId: string;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly catchUp: () => void;
}

/** Bytes of history that are queued in one go. */
const pieceBytes = 64 * 1024;
const start: EventCursor = { seq: 0, k: 0 };

export function createFeedReader(subscription: Subscription, { sessionId, limits, clock, catchUp }: ReaderParts): FeedReader {
  const { sink, seen = start, runId, isShared = false } = subscription;
  const frame = isShared ? (event: SessionEvent) => sharedFrameOf(event, sessionId) : frameOf;
  let sent = subscription.after ?? start;
  let isLive = false;
  let isOver = false;
  let isRested = false;
  let cancelStall = (): void => {};

  const ours = (event: DurableEvent): boolean => runId === undefined || event.runId === runId;

  function tell(durable: readonly DurableEvent[]): void {
    const last = durable.at(-1);
    if (!last) return;
    sent = last;
    isRested = false;
    subscription.told?.(durable);
  }

  function reached(cursor: EventCursor): void {
    if (compareCursors(cursor, sent) > 0) sent = cursor;
  }

  /** What is queued in one go, and its frames. */
  function pieceOf(events: readonly DurableEvent[], from: number): readonly [readonly DurableEvent[], string] {
    let text = "";
    let to = from;
    while (to < events.length && text.length < pieceBytes) {
      const event = events[to++] as DurableEvent;
      if (ours(event) && compareCursors(event, seen) > 0) text += frame(event);
    }
    return [events.slice(from, to), text];
  }

  function write(text: string): void {
    if (text !== "") sink.write(encodeFrames(text));
  }

  /** Too much is queued: nothing more until it has run empty. */
  function stallIfFull(): void {
    if (isOver || sink.queuedBytes <= limits.streamQueueBytes) return;
    isLive = false;
    cancelStall = clock.after(limits.streamStallMs, () => sink.destroy());
    sink.onDrain(() => {
      cancelStall();
      if (!isOver) catchUp();
    });
  }

  function room(): Promise<void> {
    if (isOver || sink.queuedBytes <= limits.streamQueueBytes) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = clock.after(limits.streamStallMs, () => sink.destroy());
      sink.onDrain(() => {
        cancel();
        resolve();
      });
    });
  }

  function rest(): void {
    if (isRested || isOver) return;
    isRested = true;
    subscription.rested?.();
  }

  return {
    isShared,
    runId,
    get isLive() {
      return isLive;
    },
    get isOver() {
      return isOver;
    },
    get sent() {
      return sent;
    },
    take(durable, bytes) {
      sink.write(bytes);
      isRested = false;
      tell(durable);
      stallIfFull();
    },
    send(events) {
      write(events.map(frame).join(""));
      tell(events.filter(isDurable));
      stallIfFull();
    },
    async replay(events) {
      for (let from = 0; from < events.length && !isOver; ) {
        const [piece, text] = pieceOf(events, from);
        from += piece.length;
        write(text);
        tell(piece.filter(ours)); // May end the stream: after what it is told of.
        reached(piece.at(-1) ?? sent);
        await room();
      }
    },
    reached,
    goLive(lanes, isResting) {
      if (isOver) return;
      write(lanes.map((lane) => snapshotFrame(lane, sessionId)).join(""));
      isLive = true;
      if (isResting) rest();
      stallIfFull();
    },
    rest,
    leave() {
      isOver = true;
      isLive = false;
      cancelStall();
    },
    cut() {
      if (!isOver) sink.destroy();
    },
  };
}
