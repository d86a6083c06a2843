import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import {
  type EventBounds,
  type EventStore,
  eventBounds,
  eventCursor,
  placeOf,
  type StoredEvent,
  type TelemetryEvent,
} from "./event-store.ts";

export interface MemoryEventsOptions extends EventBounds {
  readonly clock?: Clock;
}

interface Kept {
  readonly event: TelemetryEvent;
  /** Counts records in the order in which they came. */
  readonly place: number;
}

interface Stream {
  /** A map keeps the order in which its keys came: the oldest first. */
  readonly all: Map<string, Kept>;
  /** The records of each session. */
  readonly sessions: Map<string, Map<string, Kept>>;
}

/** Streams of records in this process. */
export function memoryEvents({
  clock = systemClock,
  keepMs = eventBounds.keepMs,
  eventsMax = eventBounds.eventsMax,
}: MemoryEventsOptions = {}): EventStore {
  const streams = new Map<string, Stream>();
  let places = 0;
  const drop = ({ all, sessions }: Stream, { event }: Kept): void => {
    all.delete(event.key);
    const name = sessionOf(event);
    const own = sessions.get(name);
    own?.delete(event.key);
    if (own?.size === 0) sessions.delete(name);
  };
  const keep = ({ all, sessions }: Stream, event: TelemetryEvent): void => {
    if (all.has(event.key)) return;
    const kept = { event, place: ++places };
    all.set(event.key, kept);
    if (event.session === undefined) return;
    const name = sessionOf(event);
    const own = sessions.get(name) ?? new Map<string, Kept>();
    sessions.set(name, own.set(event.key, kept));
  };
  const prune = (stream: Stream): void => {
    const since = clock.now() - keepMs;
    for (const kept of stream.all.values()) {
      if (stream.all.size <= eventsMax && kept.event.at >= since) return;
      drop(stream, kept);
    }
  };
  return {
    append(name, events) {
      const stream = streams.get(name) ?? { all: new Map(), sessions: new Map() };
      streams.set(name, stream);
      for (const event of events) keep(stream, event);
      prune(stream);
    },
    async read(name, { from = 0, scope, session, before, limit = eventBounds.eventsMax } = {}) {
      const stream = streams.get(name);
      const since = Math.max(from, clock.now() - keepMs);
      const end = before === undefined ? undefined : placeOf(before);
      const searched = session === undefined ? stream?.all : stream?.sessions.get(sessionOf({ scope, session }));
      return [...(searched?.values() ?? [])]
        .filter(({ event }) => event.at >= since && (scope === undefined || event.scope === scope))
        .filter(({ event: { at }, place }) => end === undefined || at < end.at || (at === end.at && place < end.place))
        .sort((a, b) => a.event.at - b.event.at || a.place - b.place)
        .slice(-limit)
        .map(({ event, place }): StoredEvent => ({ ...event, cursor: eventCursor({ at: event.at, place }) }));
    },
  };
}

const sessionOf = ({ scope = "", session = "" }: { readonly scope?: string | undefined; readonly session?: string }): string =>
  `${scope}/${session}`;
