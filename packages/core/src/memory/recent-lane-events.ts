import type { EphemeralEvent, SessionEvent } from "../loop/event.ts";
import type { SessionRef } from "../ports/session-log.ts";

/** The events of the newest lanes, for readers that join in the middle. */
export interface LaneMemory {
  keep(ref: SessionRef, events: readonly SessionEvent[]): void;
  recall(ref: SessionRef, lane: number): readonly EphemeralEvent[];
}

/** Limits of one lane. Of a longer lane the end is kept. */
const laneLimits = { events: 4_096, bytes: 2 * 1024 * 1024 } as const;

interface KeptLane {
  events: EphemeralEvent[];
  sizeBytes: number;
}

/** Keeps the `lanes` lanes with the newest events. */
export function laneMemory(lanes: number): LaneMemory {
  /** By scope, session and lane; first the lane whose last event is the oldest. */
  const kept = new Map<string, KeptLane>();
  const keyOf = ({ scope, session }: SessionRef, lane: number): string => JSON.stringify([scope, session, lane]);
  return {
    keep(ref, events) {
      for (const event of events) {
        if (!("lane" in event)) continue;
        const key = keyOf(ref, event.lane);
        const lane = kept.get(key) ?? { events: [], sizeBytes: 0 };
        kept.delete(key);
        kept.set(key, lane);
        lane.events.push(event);
        lane.sizeBytes += sizeOf(event);
        if (lane.events.length > laneLimits.events || lane.sizeBytes > laneLimits.bytes) halve(lane);
        if (kept.size > lanes) for (const [oldest] of kept) if (kept.delete(oldest)) break;
      }
    },
    recall: (ref, lane) => [...(kept.get(keyOf(ref, lane))?.events ?? [])],
  };
}

const sizeOf = (event: EphemeralEvent): number => ("delta" in event ? event.delta.length : JSON.stringify(event).length);

/** Drops many events at once, so that not every new event moves the rest. */
function halve(lane: KeptLane): void {
  lane.events = lane.events.slice(Math.ceil(lane.events.length / 2));
  lane.sizeBytes = lane.events.reduce((sum, event) => sum + sizeOf(event), 0);
}
