/*
 * Owns: the events for one connection, as a server sends them: the durable tail after the cursor, one snapshot per open lane, then live events.
 * Does not own: the connection's delays and cuts (the client's pipe), how the client applies the events (recording).
 */
import { type AgentSession, type EventCursor, readHistory, type SessionEvent } from "@loopwright/core";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";

export interface FeedOptions {
  readonly handle: AgentSession;
  readonly store: SessionStore;
  readonly ref: SessionRef;
  /** Only what comes after it. */
  readonly after: EventCursor | undefined;
  readonly send: (events: readonly SessionEvent[]) => void;
  /** The feed is over; connect again. */
  readonly end: () => void;
}

/** Begins to feed; ends with the function it gives. */
export function feedSession({ handle, store, ref, after, send, end }: FeedOptions): () => void {
  /** Held back until the tail is sent. */
  let held: (readonly SessionEvent[])[] | undefined = [];
  let isOver = false;
  /** A process may know less than the one that served this client before. */
  const isNews = (event: SessionEvent): boolean =>
    !("seq" in event) || after === undefined || event.seq > after.seq || (event.seq === after.seq && event.k > after.k);
  const stop = handle.follow({
    events(events) {
      if (held) held.push([...events]);
      else send(events.filter(isNews));
    },
    lost: () => finish(),
  });
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    stop();
    end();
  };
  const begin = async (): Promise<void> => {
    await handle.ready();
    // From this moment on everything newer comes by itself; everything up to it is read.
    held = [];
    const upTo = handle.lastSeq;
    const lanes = handle.lanes();
    for await (const batch of readHistory(store, ref, after ? { after } : {})) {
      const known = batch.filter(({ seq }) => seq <= upTo);
      if (known.length > 0 && !isOver) send(known);
      if (known.length < batch.length) break;
    }
    const later = held;
    held = undefined;
    if (isOver) return;
    if (lanes.length > 0) send(lanes);
    for (const events of later) send(events.filter(isNews));
  };
  begin().catch(finish);
  return () => {
    isOver = true;
    stop();
  };
}
