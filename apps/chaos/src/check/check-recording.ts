import { readHistory } from "@loopwright/core";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import type { DurableEvent } from "@loopwright/core/protocol";
import type { Recording } from "../world/people/recording.ts";

/** Every durable event of a log, in order. */
export async function eventsOfLog(store: SessionStore, ref: SessionRef): Promise<readonly DurableEvent[]> {
  const events: DurableEvent[] = [];
  for await (const batch of readHistory(store, ref)) events.push(...batch);
  return events;
}

/** I3: what a watcher has seen is the log, each event once, in order, the same bytes. */
export function checkRecording(recording: Recording, log: readonly DurableEvent[]): readonly string[] {
  const flaws = recording.flaws.map((flaw) => `I3: ${flaw}`);
  const { durable } = recording;
  if (durable.length !== log.length) flaws.push(`I3: a watcher has ${durable.length} events and the log has ${log.length}`);
  for (let index = 0; index < Math.min(durable.length, log.length); index++) {
    const [seen, logged] = [JSON.stringify(sorted(durable[index])), JSON.stringify(sorted(log[index]))];
    if (seen === logged) continue;
    flaws.push(`I3: event ${index} differs: seen ${seen.slice(0, 160)}, in the log ${logged.slice(0, 160)}`);
    break;
  }
  return flaws;
}

/** To the first frame of a connection the server adds its session: fields that address an event are compared by value, not by order. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
