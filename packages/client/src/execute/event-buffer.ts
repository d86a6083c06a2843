import type { AgentEvent, EphemeralEvent } from "@loopwright/core/protocol";
import { readerBytes } from "../client-limits.ts";

/**
 * What waits for the reader of an execution. Never blocks who writes: over 1 MiB of deltas those that wait are dropped, and more of the same
 * lanes with them, until a snapshot of the lane comes. Durable events are never dropped.
 */
export interface EventBuffer extends AsyncIterator<AgentEvent, undefined> {
  push(event: AgentEvent): void;
  /** No more events; the reader gets what is left, then the end, or the error. */
  end(error?: unknown): void;
}

interface Reader {
  readonly resolve: (result: IteratorResult<AgentEvent, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

const isEphemeral = (event: AgentEvent): event is EphemeralEvent => "lane" in event;
const isSnapshot = ({ type }: AgentEvent): boolean => type === "message_snapshot" || type === "tool_execution_snapshot";

/** Bytes that a delta is taken for. */
const weightOf = (event: AgentEvent): number => (isEphemeral(event) ? 64 + ("delta" in event ? event.delta.length * 2 : 0) : 0);

export function createEventBuffer(): EventBuffer {
  let queue: AgentEvent[] = [];
  let first = 0;
  let weight = 0;
  let ended: { readonly error?: unknown } | undefined;
  const readers: Reader[] = [];
  /** Lanes of which something was dropped. */
  const gaps = new Set<number>();

  function shift(): AgentEvent | undefined {
    const event = queue[first];
    if (!event) return undefined;
    first += 1;
    weight -= weightOf(event);
    if (first === queue.length || first > 1_024) {
      queue = queue.slice(first);
      first = 0;
    }
    return event;
  }

  function dropDeltas(): void {
    const waiting = queue.slice(first);
    for (const event of waiting) if (isEphemeral(event)) gaps.add(event.lane);
    queue = waiting.filter((event) => !isEphemeral(event));
    first = 0;
    weight = 0;
  }

  function flush(): void {
    for (let reader = readers[0]; reader; reader = readers[0]) {
      const value = shift();
      if (!value && !ended) return;
      readers.shift();
      if (value) reader.resolve({ value, done: false });
      else if (ended?.error !== undefined) reader.reject(ended.error);
      else reader.resolve({ value: undefined, done: true });
    }
  }

  return {
    push(event) {
      if (ended) return;
      if (isEphemeral(event)) {
        if (isSnapshot(event)) gaps.delete(event.lane);
        if (gaps.has(event.lane)) return;
      }
      queue.push(event);
      weight += weightOf(event);
      if (weight > readerBytes) dropDeltas();
      flush();
    },
    end(error) {
      ended ??= { error };
      flush();
    },
    next() {
      return new Promise((resolve, reject) => {
        readers.push({ resolve, reject });
        flush();
      });
    },
    return() {
      ended = {};
      queue = [];
      first = 0;
      flush();
      return Promise.resolve({ value: undefined, done: true });
    },
  };
}
