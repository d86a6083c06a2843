import type { AgentEvent, EphemeralEvent } from "../../loop/event.ts";
import { createDroppedAnswers, type DroppedAnswers } from "../../loop/untold-answer.ts";
import { driverLimits } from "../setup/session-options.ts";

/**
 * What waits for one reader. Never blocks who writes: over 1 MiB the deltas are dropped, and once the reader has caught up each lane that is
 * still open begins again with a snapshot. An answer that ends before that has its snapshot before its end.
 */
export interface EventBuffer extends AsyncIterator<AgentEvent, undefined> {
  push(events: readonly AgentEvent[]): void;
  /** No more events; the reader gets what is left, then the end, or the error. */
  end(error?: Error): void;
}

export function createEventBuffer(snapshots: () => readonly EphemeralEvent[]): EventBuffer {
  const queue = createQueue();
  const dropped = createDroppedAnswers();
  /** Deltas are being dropped until the reader has caught up. */
  let isBehind = false;
  let ended: { readonly error?: Error } | undefined;
  const readers: Reader[] = [];

  /** The next event; a reader that has caught up gets the state of each open lane first. */
  const next = (): AgentEvent | undefined => {
    const event = queue.shift();
    if (event !== undefined || !isBehind) return event;
    isBehind = false;
    for (const snapshot of snapshots()) queue.add(snapshot);
    return queue.shift();
  };

  const flush = (): void => {
    while (readers.length > 0) {
      const value = next();
      if (value === undefined && !ended) return;
      const reader = readers.shift() as Reader;
      if (value !== undefined) reader.resolve({ value, done: false });
      else if (ended?.error) reader.reject(ended.error);
      else reader.resolve({ value: undefined, done: true });
    }
  };

  return {
    push(events) {
      if (ended) return;
      for (const event of events) {
        // A reader who waits has read all that came before.
        const reader = isBehind ? undefined : readers.shift();
        if (reader) reader.resolve({ value: event, done: false });
        else if (!isBehind) queue.add(event);
        else if ("lane" in event) dropped.dropped(event);
        else for (const one of [...dropped.before(event), event]) queue.add(one);
      }
      if (!isBehind && queue.weight > driverLimits.readerBytes) {
        isBehind = true;
        queue.dropDeltas(dropped);
      }
      flush();
    },
    end(error) {
      ended ??= error ? { error } : {};
      flush();
    },
    next() {
      const value = readers.length === 0 ? next() : undefined;
      if (value !== undefined) return Promise.resolve({ value, done: false });
      return new Promise((resolve, reject) => {
        readers.push({ resolve, reject });
        flush();
      });
    },
    return() {
      ended ??= {};
      isBehind = false;
      queue.clear();
      flush();
      return Promise.resolve({ value: undefined, done: true });
    },
  };
}

interface Reader {
  readonly resolve: (result: IteratorResult<AgentEvent, undefined>) => void;
  readonly reject: (error: Error) => void;
}

/** Events in order, with their weight. */
interface Queue {
  weight: number;
  add(event: AgentEvent): void;
  shift(): AgentEvent | undefined;
  dropDeltas(dropped: DroppedAnswers): void;
  clear(): void;
}

function createQueue(): Queue {
  let events: AgentEvent[] = [];
  let first = 0;
  const hold = (kept: AgentEvent[]): void => {
    events = kept;
    first = 0;
    queue.weight = kept.reduce((sum, event) => sum + weightOf(event), 0);
  };
  const queue: Queue = {
    weight: 0,
    add(event) {
      events.push(event);
      queue.weight += weightOf(event);
    },
    shift() {
      const event = events[first];
      if (event === undefined) return undefined;
      events[first] = undefined as never;
      first += 1;
      queue.weight -= weightOf(event);
      if (first === events.length) {
        events.length = 0;
        first = 0;
      }
      return event;
    },
    dropDeltas(dropped) {
      const kept: AgentEvent[] = [];
      for (const event of events.slice(first)) {
        if ("lane" in event) dropped.dropped(event);
        else kept.push(...dropped.before(event), event);
      }
      hold(kept);
    },
    clear: () => hold([]),
  };
  return queue;
}

/** Bytes that an event is taken for: its text, and a little for the rest. Durable events are never dropped, so they need no exact weight. */
function weightOf(event: AgentEvent): number {
  return "delta" in event ? 64 + event.delta.length * 2 : 128;
}
