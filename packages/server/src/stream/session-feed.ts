/*
 * Owns: the events of one session for everybody who watches it over HTTP: what a reader missed, then what happens now.
 * Does not own: what a stream begins and ends with (routes), how bytes reach the other side (sinks).
 * Invariants
 *  F1 a reader gets every durable event after its cursor once, in order; what it missed comes before what happens now;
 *  F2 an event is encoded once for all live readers of one kind;
 *  F3 over the queue limit nothing more is queued for a reader; when its queue has run empty it is caught up as if it had come back.
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
import { type EarlyEvents, HeldEvents } from "./early-events.ts";
import { FeedReader, type ReaderParts, type Subscription } from "./feed-reader.ts";
import { encodeFrames, frameOf, isDurable, sharedFrameOf } from "./frames.ts";
import { createRecentEvents, type RecentEvents } from "./recent-events.ts";
import { SharedHistory } from "./shared-history.ts";

/** The events of one session, encoded once for all who watch it. */
export interface SessionFeed {
  readonly watchers: number;
  /** Ends with the function it gives, or with the sink. */
  subscribe(subscription: Subscription): () => void;
  /** Hears what is told from now on, for an input on its way into the log. */
  hear(): EarlyEvents;
  /** Whether a durable event follows the cursor, or may: this process has not seen all of the log. @throws AgentError STORE_*, SESSION_* */
  hasAfter(cursor: EventCursor): Promise<boolean>;
  /** When the first of what follows the cursor was recorded; `undefined` where nothing does. @throws AgentError STORE_*, SESSION_* */
  nextAt(cursor: EventCursor): Promise<number | undefined>;
}

/** `use` keeps the session loaded for a reader. */
export interface FeedParts extends Pick<LoadedSession, "ref" | "session" | "use"> {
  readonly store: SessionStore;
  readonly limits: HttpLimits;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What only who made a feed does with it. */
export interface ClosableFeed extends SessionFeed {
  /** Cuts every stream: their readers come back. */
  close(): void;
}

/** Facts that may stand between the beginning of an answer and its end: what people said meanwhile. */
const answerFacts = 64;

export function createSessionFeed(parts: FeedParts): ClosableFeed {
  return new LiveFeed(parts);
}

class LiveFeed implements ClosableFeed {
  readonly #parts: FeedParts;
  readonly #readers = new Set<FeedReader>();
  readonly #readerParts: ReaderParts;
  readonly #hearing = new Set<HeldEvents>();
  readonly #history: SharedHistory;
  /** What is being looked up for readers of the same place. */
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

  hear(): EarlyEvents {
    const { session } = this.#parts;
    // A lane that is open already has said things that nobody heard here.
    const held = new HeldEvents(session.lanes().length === 0, () => this.#hearing.delete(held));
    this.#hearing.add(held);
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

  /** Until the session is loaded nothing is told: all that comes after is news. Who has its last event misses nothing, whatever else the log ends with. */
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
    // Asked before the batch is added: a long batch pushes out what says which answer was being written before it.
    let answering: number | undefined;
    if (first) {
      this.#recent ??= this.#recentFrom(cursorAfter(first.seq - 1));
      answering = this.#recent.answeringAtEnd;
      this.#recent.add(durable);
    }
    const lanes = events.filter((event) => !isDurable(event));
    for (const held of this.#hearing) held.add(events, runId);
    let own: Uint8Array | undefined;
    let shared: Uint8Array | undefined;
    for (const reader of this.#readers) {
      if (!reader.isLive || (reader.runId !== undefined && reader.runId !== runId)) continue;
      if (reader.isAhead || reader.hasWholeText || isTwice(events, reader)) this.#overtake(reader, durable, answering);
      else if (first && compareCursors(first, reader.sent) <= 0) reader.send(newsOf(events, reader));
      else if (reader.isShared) {
        shared ??= encodeFrames(events.map((event) => sharedFrameOf(event, this.#parts.ref.session)).join(""));
        reader.take(durable, shared);
      } else {
        own ??= encodeFrames(events.map(frameOf).join(""));
        reader.take(durable, own);
      }
      reader.heard(lanes);
    }
  }

  /** `answering`: the lane of the answer that was being written before the batch. Once the reader is ahead no longer, it gets what the open lanes have said. */
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

  /** A store that may come back is followed on, and what runs goes on then. */
  #lost(error: AgentError): void {
    // A session that was removed has no more to say: who comes back would find nothing.
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

  /** From the log, then from what is recent, then live: nothing happens between the last two. */
  async #catchUp(reader: FeedReader): Promise<void> {
    const { session, ref, logger } = this.#parts;
    try {
      await session.ready();
      if (reader.hearEarly()) return reader.goLive({ lanes: [], answering: undefined, isResting: session.isResting });
      while (!reader.isOver) {
        const missed = this.#recentEvents().after(reader.sent);
        if (missed?.length === 0) return this.#goLive(reader, session.isResting);
        if (missed) await reader.replay(missed, this.#recentEvents().answeringAt(reader.sent));
        else await this.#replayLog(reader);
      }
    } catch (error) {
      const code = isAgentError(error) ? error.code : "INTERNAL";
      logger.log("error", "A reader could not be caught up.", { session: ref.session, code });
      reader.cut();
    }
  }

  async #replayLog(reader: FeedReader): Promise<void> {
    const { session } = this.#parts;
    // A little earlier: where the answer began that is being written at the reader's place.
    const from = cursorAfter(Math.max(0, reader.sent.seq - answerFacts));
    let answering: number | undefined;
    const tail = session.lastSeq;
    for await (const batch of this.#history.after(from, tail)) {
      for (const event of batch) if (!isNews(event, reader)) answering = answeringAfter(event, answering);
      const news = batch.filter((event) => isNews(event, reader));
      // What the log has and the session has not seen yet comes live: its lanes are still open here.
      const told = news.filter(({ seq }) => seq <= session.lastSeq);
      await reader.replay(told, answering);
      for (const event of told) answering = answeringAfter(event, answering);
      if (reader.isOver) return;
      if (told.length < news.length) break;
    }
    // Facts that tell nothing have no events: the last event may stand before the tail.
    reader.reached(cursorAfter(tail));
  }
}

/** What the reader does not have: of an answer the end of which it has, nothing more. */
function newsOf(events: readonly SessionEvent[], reader: FeedReader): readonly SessionEvent[] {
  const lastKnown = events.findLastIndex((event) => isDurable(event) && !isNews(event, reader));
  return events.filter((event, at) => (isDurable(event) ? isNews(event, reader) : at > lastKnown));
}

/** Whether all of an answer, or nothing of it but its end, is told here of which the reader may have heard a part elsewhere. */
const isTwice = (events: readonly SessionEvent[], { joinedLane, lacksJoined }: FeedReader): boolean =>
  joinedLane !== undefined &&
  events.some(isDurable) &&
  (lacksJoined || events.some((event) => !isDurable(event) && event.lane === joinedLane));

const isNews = (event: DurableEvent, reader: FeedReader): boolean => compareCursors(event, reader.sent) > 0;
