/*
 * Owns: the events of one session for all its readers over HTTP: first the events that a reader missed, then live events.
 * Does not own: the first and last frames of a stream (routes), how bytes reach the other side (sinks).
 * Invariants
 *  F1 a reader gets every durable event after its cursor once, in order; missed events come before live ones;
 *  F2 an event is encoded once for all live readers of one kind;
 *  F3 over the queue limit nothing more is queued for a reader; once its queue is empty, it catches up as if it had reconnected.
 */
import { type AgentError, isAgentError, readHistory } from "@loopwright/core";
import type { Clock, Logger, SessionStore } from "@loopwright/core/ports";
import {
  answeringAfter,
  compareCursors,
  cursorAfter,
  type DurableEvent,
  type EventCursor,
  type SessionEvent,
} from "@loopwright/core/protocol";
import type { LoadedSession } from "@loopwright/host";
import type { HttpLimits } from "../server-limits.ts";
import { type EarlyEvents, HeldEvents } from "./events-during-append.ts";
import { FeedReader, type ReaderParts, type Subscription } from "./feed-reader.ts";
import { createRecentEvents, type RecentEvents } from "./recent-events.ts";
import { SharedHistory } from "./shared-log-read.ts";
import { encodeFrames, frameOf, isDurable, sharedFrameOf } from "./sse-frames.ts";

/** The events of one session, encoded once for all readers of one kind. */
export interface SessionFeed {
  readonly watchers: number;
  /** The subscription ends when the returned function is called, or with the sink. */
  subscribe(subscription: Subscription): () => void;
  /** Collects the events published from now on, for an input that is not in the log yet. */
  receive(): EarlyEvents;
  /** True if a durable event follows the cursor. Also true if this process has not read the log to its end. @throws AgentError STORE_*, SESSION_* */
  hasAfter(cursor: EventCursor): Promise<boolean>;
  /** When the first event or fact after the cursor was recorded; `undefined` if there is none. @throws AgentError STORE_*, SESSION_* */
  nextAt(cursor: EventCursor): Promise<number | undefined>;
}

/** `use` keeps the session loaded for a reader. */
export interface FeedParts extends Pick<LoadedSession, "ref" | "session" | "use"> {
  readonly store: SessionStore;
  readonly limits: HttpLimits;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The feed for its creator, which alone may close it. */
export interface ClosableFeed extends SessionFeed {
  /** Ends every stream; the readers reconnect. */
  close(): void;
}

/** The most facts that are expected between the beginning of an answer and its end: inputs that were accepted meanwhile. */
const answerFacts = 64;

export function createSessionFeed(parts: FeedParts): ClosableFeed {
  return new LiveFeed(parts);
}

class LiveFeed implements ClosableFeed {
  readonly #parts: FeedParts;
  readonly #readers = new Set<FeedReader>();
  readonly #readerParts: ReaderParts;
  readonly #receiving = new Set<HeldEvents>();
  readonly #history: SharedHistory;
  /** Lookups under way, by seq: readers at the same seq share one. */
  readonly #nextAts = new Map<number, Promise<number | undefined>>();
  #recent: RecentEvents | undefined;
  #isClosed = false;
  #stop: () => void;

  constructor(parts: FeedParts) {
    const { ref, store, limits, clock } = parts;
    this.#parts = parts;
    this.#history = new SharedHistory(store, ref);
    this.#readerParts = {
      sessionId: ref.session,
      limits,
      clock,
      catchUp: (reader) => void this.#catchUp(reader),
    };
    this.#stop = this.#follow();
  }

  get watchers(): number {
    return this.#readers.size;
  }

  subscribe(subscription: Subscription): () => void {
    const reader = new FeedReader(subscription, this.#readerParts);
    const release = this.#parts.use();
    const leave = (): void => {
      reader.leave();
      this.#readers.delete(reader);
      release();
    };
    this.#readers.add(reader);
    subscription.sink.onClose(leave);
    if (this.#isClosed) reader.end();
    else void this.#catchUp(reader);
    return leave;
  }

  receive(): EarlyEvents {
    const { session } = this.#parts;
    // A lane that is open already has emitted deltas that this feed has not seen.
    const held = new HeldEvents(session.lanes().length === 0, () => this.#receiving.delete(held));
    this.#receiving.add(held);
    return held;
  }

  async hasAfter(cursor: EventCursor): Promise<boolean> {
    const { session, store, ref } = this.#parts;
    await session.ready();
    const known = this.#recentEvents().after(cursor);
    if (known && known.length > 0) return true;
    const { lastSeq } = await store.log.head(ref);
    if (lastSeq > session.lastSeq) return true;
    if (known) return false;
    const { lastEvent } = session;
    if (lastEvent) return compareCursors(cursor, lastEvent) < 0;
    for await (const _ of readHistory(store, ref, { after: cursor })) return true;
    return false;
  }

  async nextAt(cursor: EventCursor): Promise<number | undefined> {
    const { session, store, ref } = this.#parts;
    await session.ready();
    if (cursor.seq >= session.lastSeq) return undefined;
    const known = this.#recentEvents().after(cursor);
    if (known) return known[0]?.at;
    const asked = this.#nextAts.get(cursor.seq) ?? store.log.read(ref, { from: cursor.seq + 1, limit: 1 }).then(([fact]) => fact?.at);
    this.#nextAts.set(cursor.seq, asked);
    try {
      return await asked;
    } finally {
      this.#nextAts.delete(cursor.seq);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
    for (const reader of this.#readers) reader.end();
  }

  #follow(): () => void {
    return this.#parts.session.follow({
      events: (events, runId) => this.#publish(events, runId),
      rested: () => this.#rested(),
      lost: (error) => this.#lost(error),
    });
  }

  /**
   * Starts at the session's last event, since nothing is published before the session is loaded. A reader that has this event misses nothing, even
   * if facts without events follow it in the log.
   */
  #recentEvents(): RecentEvents {
    const { lastSeq, lastEvent } = this.#parts.session;
    this.#recent ??= this.#recentFrom(lastEvent ?? cursorAfter(lastSeq));
    return this.#recent;
  }

  #recentFrom(from: EventCursor): RecentEvents {
    const { session, limits } = this.#parts;
    const answering = session.snapshot().run?.answering;
    return createRecentEvents(from, limits.recentEvents, answering);
  }

  #publish(events: readonly SessionEvent[], runId: string | undefined): void {
    const durable = events.filter(isDurable);
    const [first] = durable;
    // `answeringAtEnd` is read before `add`, which moves it to the end of the batch.
    let answering: number | undefined;
    if (first) {
      this.#recent ??= this.#recentFrom(cursorAfter(first.seq - 1));
      answering = this.#recent.answeringAtEnd;
      this.#recent.add(durable);
    }
    const lanes = events.filter((event) => !isDurable(event));
    for (const held of this.#receiving) held.add(events, runId);
    let own: Uint8Array | undefined;
    let shared: Uint8Array | undefined;
    for (const reader of this.#readers) {
      if (!reader.isLive || (reader.runId !== undefined && reader.runId !== runId)) continue;
      if (reader.isAhead || reader.hasWholeText || isTwice(events, reader)) this.#overtake(reader, durable, answering);
      else if (first && compareCursors(first, reader.sent) <= 0) reader.send(newsOf(events, reader));
      else if (reader.isUnnamed && lanes[0] === events[0]) reader.send(events);
      else if (reader.isShared) {
        shared ??= encodeFrames(events.map((event) => sharedFrameOf(event, this.#parts.ref.session)).join(""));
        reader.take(durable, shared);
      } else {
        own ??= encodeFrames(events.map(frameOf).join(""));
        reader.take(durable, own);
      }
      reader.received(lanes);
    }
  }

  /** `answering`: the lane of the answer being written before the batch. A reader that is no longer ahead gets snapshots of the open lanes. */
  #overtake(reader: FeedReader, durable: readonly DurableEvent[], answering: number | undefined): void {
    const { isAhead } = reader;
    if (durable.length === 0) return;
    const news = durable.filter((event) => isNews(event, reader));
    const known = durable.filter((event) => !isNews(event, reader));
    reader.overtake(
      news,
      known.reduce((lane, event) => answeringAfter(event, lane), answering),
    );
    if (isAhead && !reader.isAhead) this.#goLive(reader, false);
  }

  #rested(): void {
    for (const reader of this.#readers) if (reader.isLive) reader.rest();
  }

  /** After a retryable error the feed follows the session again, for when the store is back. */
  #lost(error: AgentError): void {
    // The stream of a removed session ends properly: a reader that reconnects would find nothing.
    for (const reader of this.#readers) {
      if (error.code === "SESSION_CLOSED") reader.close();
      else reader.cut();
    }
    this.#recent = undefined;
    if (error.retryable) this.#stop = this.#follow();
  }

  #goLive(reader: FeedReader, isResting: boolean): void {
    const lanes = this.#parts.session.lanes(reader.runId);
    reader.goLive({ lanes, answering: this.#recentEvents().answeringAt(reader.sent), isResting });
  }

  /** Replays from the log, then from the recent events, then goes live. Nothing is awaited before the last step, so no event is lost. */
  async #catchUp(reader: FeedReader): Promise<void> {
    const { session, ref, logger } = this.#parts;
    try {
      await session.ready();
      if (reader.receiveEarly()) return reader.goLive({ lanes: [], answering: undefined, isResting: session.isResting });
      while (!reader.isOver) {
        const missed = this.#recentEvents().after(reader.sent);
        if (missed?.length === 0) return this.#goLive(reader, session.isResting);
        if (missed) await reader.replay(missed, this.#recentEvents().answeringAt(reader.sent));
        else await this.#replayLog(reader);
      }
    } catch (error) {
      const code = isAgentError(error) ? error.code : "INTERNAL";
      logger.log("error", "The events that a reader missed could not be sent.", { ...ref, code });
      reader.cut();
    }
  }

  async #replayLog(reader: FeedReader): Promise<void> {
    const { session } = this.#parts;
    // Begins earlier than the reader's cursor, to find the beginning of the answer that is being written there.
    const from = cursorAfter(Math.max(0, reader.sent.seq - answerFacts));
    let answering: number | undefined;
    const tail = session.lastSeq;
    for await (const batch of this.#history.after(from, tail)) {
      for (const event of batch) if (!isNews(event, reader)) answering = answeringAfter(event, answering);
      const news = batch.filter((event) => isNews(event, reader));
      // Events that the session has not read yet are published live later: their lanes are still open here.
      const notified = news.filter(({ seq }) => seq <= session.lastSeq);
      await reader.replay(notified, answering);
      for (const event of notified) answering = answeringAfter(event, answering);
      if (reader.isOver) return;
      if (notified.length < news.length) break;
    }
    // Some facts have no events, so the last event may lie before the tail.
    reader.reached(cursorAfter(tail));
  }
}

/** The events that the reader does not have: ephemeral ones only if they come after the last durable event that it has. */
function newsOf(events: readonly SessionEvent[], reader: FeedReader): readonly SessionEvent[] {
  const lastKnown = events.findLastIndex((event) => isDurable(event) && !isNews(event, reader));
  return events.filter((event, at) => (isDurable(event) ? isNews(event, reader) : at > lastKnown));
}

/**
 * True if the unchanged batch might garble an answer of which the reader may have received a part elsewhere: by repeating its text, or by
 * ending it without the rest of its text.
 */
const isTwice = (events: readonly SessionEvent[], { joinedLane, lacksJoined }: FeedReader): boolean =>
  joinedLane !== undefined &&
  events.some(isDurable) &&
  (lacksJoined || events.some((event) => !isDurable(event) && event.lane === joinedLane));

const isNews = (event: DurableEvent, reader: FeedReader): boolean => compareCursors(event, reader.sent) > 0;
