import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import { type EventBounds, type EventStore, eventBounds, type TelemetryEvent } from "./event-store.ts";

export interface MemoryEventsOptions extends EventBounds {
  readonly clock?: Clock;
}

/** Streams of records in this process. */
export function memoryEvents({
  clock = systemClock,
  keepMs = eventBounds.keepMs,
  eventsMax = eventBounds.eventsMax,
}: MemoryEventsOptions = {}): EventStore {
  const streams = new Map<string, Map<string, TelemetryEvent>>();
  /** A map keeps the order in which its keys came: the oldest first. */
  const prune = (events: Map<string, TelemetryEvent>): void => {
    const since = clock.now() - keepMs;
    for (const [key, { at }] of events) {
      if (events.size <= eventsMax && at >= since) return;
      events.delete(key);
    }
  };
  return {
    append(stream, events) {
      const kept = streams.get(stream) ?? new Map<string, TelemetryEvent>();
      streams.set(stream, kept);
      for (const event of events) if (!kept.has(event.key)) kept.set(event.key, event);
      prune(kept);
    },
    async read(stream, { from = 0, scope, limit = eventBounds.eventsMax } = {}) {
      const since = Math.max(from, clock.now() - keepMs);
      const found = [...(streams.get(stream)?.values() ?? [])].filter(
        (event) => event.at >= since && (scope === undefined || event.scope === scope),
      );
      return found.sort((a, b) => a.at - b.at).slice(-limit);
    },
  };
}
