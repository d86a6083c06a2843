import type { AgentEvent, EphemeralEvent } from "../loop/event.ts";
import { driverLimits } from "./session-options.ts";

/**
 * What waits for one reader. Never blocks who writes: over 1 MiB the deltas are dropped, and once the reader has caught up each lane that is
 * still open begins again with a snapshot.
 */
export interface EventBuffer extends AsyncIterator<AgentEvent, undefined> {
  push(events: readonly AgentEvent[]): void;
  /** No more events; the reader gets what is left, then the end, or the error. */
  end(error?: Error): void;
}

export function createEventBuffer(snapshots: () => readonly EphemeralEvent[]): EventBuffer {
  let queue: AgentEvent[] = [];
  let first = 0;
  let weight = 0;
  /** Deltas are being dropped until the reader has caught up. */
  let isBehind = false;
  let ended: { readonly error?: Error } | undefined;
  let waiting:
    | { readonly resolve: (result: IteratorResult<AgentEvent, undefined>) => void; readonly reject: (error: Error) => void }
    | undefined;

  const shift = (): AgentEvent | undefined => {
    const event = queue[first];
    if (event === undefined) return undefined;
    queue[first] = undefined as never;
    first += 1;
    weight -= weightOf(event);
    if (first === queue.length) {
      queue = [];
      first = 0;
    }
    return event;
  };

  /** The next event; a reader that has caught up gets the state of each open lane first. */
  const next = (): AgentEvent | undefined => {
    const event = shift();
    if (event !== undefined || !isBehind) return event;
    isBehind = false;
    for (const snapshot of snapshots()) add(snapshot);
    return shift();
  };

  const add = (event: AgentEvent): void => {
    queue.push(event);
    weight += weightOf(event);
  };

  const collapse = (): void => {
    isBehind = true;
    queue = queue.slice(first).filter((event) => !("lane" in event));
    first = 0;
    weight = queue.reduce((sum, event) => sum + weightOf(event), 0);
  };

  const flush = (): void => {
    if (!waiting) return;
    const reader = waiting;
    const value = next();
    if (value !== undefined) {
      waiting = undefined;
      reader.resolve({ value, done: false });
    } else if (ended) {
      waiting = undefined;
      if (ended.error) reader.reject(ended.error);
      else reader.resolve({ value: undefined, done: true });
    }
  };

  return {
    push(events) {
      if (ended) return;
      for (const event of events) if (!isBehind || !("lane" in event)) add(event);
      if (weight > driverLimits.readerBytes) collapse();
      flush();
    },
    end(error) {
      ended ??= error ? { error } : {};
      flush();
    },
    next() {
      const value = next();
      if (value !== undefined) return Promise.resolve({ value, done: false });
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        flush();
      });
    },
    return() {
      ended ??= {};
      queue = [];
      first = 0;
      return Promise.resolve({ value: undefined, done: true });
    },
  };
}

/** Bytes that an event is taken for: its text, and a little for the rest. Durable events are never dropped, so they need no exact weight. */
function weightOf(event: AgentEvent): number {
  return "delta" in event ? 64 + event.delta.length * 2 : 128;
}
