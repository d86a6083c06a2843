import type { EventStore } from "../events/event-store.ts";
import { type LatencyRecord, latencyStream } from "./latency-record.ts";

/** Appends each turn to the stream of latency records, once: the key is scope, session, run and turn. */
export function latencyEvents(events: EventStore): (record: LatencyRecord) => void {
  return (record) => {
    const { scope, conversationId, taskId, turnNumber, at } = record;
    const key = `${scope}/${conversationId}/${taskId}.${turnNumber}`;
    events.append(latencyStream, [{ key, at, scope, data: record }]);
  };
}
