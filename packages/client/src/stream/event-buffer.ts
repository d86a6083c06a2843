import { type AgentEvent, createDroppedAnswers, type EphemeralEvent } from "@loopwright/core/protocol";
import { readerBytes } from "../client-limits.ts";

/**
 * Events that wait for the reader of an execution. The writer is never blocked: when more than 1 MiB of deltas wait, all of them are dropped,
 * and later deltas of the same lanes too until a snapshot of the lane comes, at the latest before the end of an answer. Durable events are
 * never dropped.
 */
export interface EventBuffer extends AsyncIterator<AgentEvent, undefined> {
  push(event: AgentEvent): void;
  /** Ends the stream: the reader gets the events that are left, then the end or the error. */
  end(error?: unknown): void;
}

interface Reader {
  readonly resolve: (result: IteratorResult<AgentEvent, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

const isEphemeral = (event: AgentEvent): event is EphemeralEvent => "lane" in event;
const isSnapshot = (event: AgentEvent): event is EphemeralEvent => event.type.endsWith("_snapshot");

/** Estimated bytes of a waiting delta; 0 for durable events. */
const weightOf = (event: AgentEvent): number => (isEphemeral(event) ? 64 + ("delta" in event ? event.delta.length * 2 : 0) : 0);

export function createEventBuffer(): EventBuffer {
  let queue: AgentEvent[] = [];
  let weight = 0;
  let ended: { readonly error?: unknown } | undefined;
  const readers: Reader[] = [];
  /** Lanes of which something was dropped. */
  const gaps = new Set<number>();
  const answers = createDroppedAnswers();

  function flush(): void {
    while (readers.length > 0 && (queue.length > 0 || ended)) {
      const value = queue.shift();
      const reader = readers.shift();
      if (value) {
        weight -= weightOf(value);
        reader?.resolve({ value, done: false });
      } else if (ended?.error) reader?.reject(ended.error);
      else reader?.resolve({ value, done: true });
    }
  }

  return {
    push(event) {
      if (ended) return;
      if (isSnapshot(event)) gaps.delete(event.lane);
      if (isEphemeral(event) && gaps.has(event.lane)) return answers.dropped(event);
      queue.push(...answers.before(event), event);
      weight += weightOf(event);
      if (weight > readerBytes) {
        const full = queue;
        queue = [];
        for (const one of full) {
          if (!isEphemeral(one)) queue.push(...answers.before(one), one);
          else {
            answers.dropped(one);
            gaps.add(one.lane);
          }
        }
        weight = 0;
      }
      flush();
    },
    end(error) {
      ended ??= { error };
      flush();
    },
    next: () =>
      new Promise((resolve, reject) => {
        readers.push({ resolve, reject });
        flush();
      }),
    return() {
      ended = {};
      queue = [];
      flush();
      return Promise.resolve({ value: undefined, done: true });
    },
  };
}
