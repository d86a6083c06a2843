import { answeringAfter, compareCursors, type DurableEvent, type EventCursor } from "@loopwright/core/protocol";

/** The newest durable events of a session, so that a reader which reconnects soon needs no read of the log. */
export interface RecentEvents {
  add(events: readonly DurableEvent[]): void;
  /** The events after the cursor; `undefined` if older events than the kept ones would be needed. */
  after(cursor: EventCursor): readonly DurableEvent[] | undefined;
  /** The lane of the answer that was being written at the cursor, if `after` returns events for the cursor. */
  answeringAt(cursor: EventCursor): number | undefined;
  /** The lane of the answer that is being written after the newest event. */
  readonly answeringAtEnd: number | undefined;
}

/**
 * `from`: all events after this cursor are added. At least the `most` newest are kept, at most twice as many; the state has them too, so a limit of their
 * number is enough. `answering`: the lane of the answer that was being written at `from`.
 */
export function createRecentEvents(from: EventCursor, most: number, answering?: number): RecentEvents {
  let events: DurableEvent[] = [];
  let answeringFirst = answering;
  let answeringLast = answering;
  let start = from;
  return {
    get answeringAtEnd() {
      return answeringLast;
    },
    add(news) {
      events.push(...news);
      for (const event of news) answeringLast = answeringAfter(event, answeringLast);
      if (events.length <= 2 * most) return;
      const dropped = events.length - most;
      start = events[dropped - 1] ?? start;
      for (const event of events.slice(0, dropped)) answeringFirst = answeringAfter(event, answeringFirst);
      events = events.slice(dropped);
    },
    after(cursor) {
      if (compareCursors(cursor, start) < 0) return undefined;
      let first = events.length;
      while (first > 0 && compareCursors(events[first - 1] as DurableEvent, cursor) > 0) first -= 1;
      return first === 0 ? events : events.slice(first);
    },
    answeringAt(cursor) {
      let lane = answeringFirst;
      for (const event of events) {
        if (compareCursors(event, cursor) > 0) break;
        lane = answeringAfter(event, lane);
      }
      return lane;
    },
  };
}
