import { createDroppedAnswers, type DroppedAnswers } from "../../loop/answer-still-to-publish.ts";
import type { AgentEvent, EphemeralEvent } from "../../loop/event.ts";
import { driverLimits } from "../setup/driver-limits.ts";

/**
 * The events that one reader has not read yet. Writing never blocks: when the events have more than 1 MiB, the deltas are dropped. A lane whose
 * deltas were dropped continues with a snapshot: when the reader has caught up, or right before the end of the lane if that comes first.
 */
export interface ReaderBuffer extends AsyncIterator<AgentEvent, undefined> {
  push(events: readonly AgentEvent[]): void;
  /** Called after the last event: the reader gets the events that are left, then the end or the error. */
  end(error?: Error): void;
}

export function createReaderBuffer(snapshots: () => readonly EphemeralEvent[]): ReaderBuffer {
  return new BoundedReaderBuffer(snapshots);
}

interface Reader {
  readonly resolve: (result: IteratorResult<AgentEvent, undefined>) => void;
  readonly reject: (error: Error) => void;
}

class BoundedReaderBuffer implements ReaderBuffer {
  readonly #snapshots: () => readonly EphemeralEvent[];
  readonly #queue = new EventQueue();
  readonly #readers: Reader[] = [];
  /** Created when the first delta is dropped, because most readers keep up. */
  #dropped: DroppedAnswers | undefined;
  /** True while deltas are dropped: until the reader has caught up. */
  #isBehind = false;
  #ended: { readonly error?: Error } | undefined;

  constructor(snapshots: () => readonly EphemeralEvent[]) {
    this.#snapshots = snapshots;
  }

  push(events: readonly AgentEvent[]): void {
    if (this.#ended) return;
    for (const event of events) {
      // A reader that waits has read all events before this one.
      const reader = this.#isBehind ? undefined : this.#readers.shift();
      if (reader) reader.resolve({ value: event, done: false });
      else this.#keep(event);
    }
    if (!this.#isBehind && this.#queue.weight > driverLimits.readerBytes) {
      this.#isBehind = true;
      this.#dropped ??= createDroppedAnswers();
      this.#queue.dropDeltas(this.#dropped);
    }
    this.#flush();
  }

  end(error?: Error): void {
    this.#ended ??= error ? { error } : {};
    this.#flush();
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    const value = this.#readers.length === 0 ? this.#take() : undefined;
    if (value !== undefined) return Promise.resolve({ value, done: false });
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
      this.#flush();
    });
  }

  return(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.#ended ??= {};
    this.#isBehind = false;
    this.#queue.clear();
    this.#flush();
    return Promise.resolve({ value: undefined, done: true });
  }

  #keep(event: AgentEvent): void {
    if (!this.#isBehind || !this.#dropped) this.#queue.add(event);
    else if ("lane" in event) this.#dropped.dropped(event);
    else for (const one of [...this.#dropped.before(event), event]) this.#queue.add(one);
  }

  /** The next event; a reader that has caught up gets the state of each open lane first. */
  #take(): AgentEvent | undefined {
    const event = this.#queue.shift();
    if (event !== undefined || !this.#isBehind) return event;
    this.#isBehind = false;
    for (const snapshot of this.#snapshots()) this.#queue.add(snapshot);
    return this.#queue.shift();
  }

  #flush(): void {
    while (this.#readers.length > 0) {
      const value = this.#take();
      if (value === undefined && !this.#ended) return;
      const reader = this.#readers.shift() as Reader;
      if (value !== undefined) reader.resolve({ value, done: false });
      else if (this.#ended?.error) reader.reject(this.#ended.error);
      else reader.resolve({ value: undefined, done: true });
    }
  }
}

/** Events in order, with their weight. */
class EventQueue {
  weight = 0;
  #events: AgentEvent[] = [];
  #first = 0;

  add(event: AgentEvent): void {
    this.#events.push(event);
    this.weight += weightOf(event);
  }

  shift(): AgentEvent | undefined {
    const event = this.#events[this.#first];
    if (event === undefined) return undefined;
    this.#events[this.#first] = undefined as never;
    this.#first += 1;
    this.weight -= weightOf(event);
    if (this.#first === this.#events.length) {
      this.#events.length = 0;
      this.#first = 0;
    }
    return event;
  }

  dropDeltas(dropped: DroppedAnswers): void {
    const kept: AgentEvent[] = [];
    for (const event of this.#events.slice(this.#first)) {
      if ("lane" in event) dropped.dropped(event);
      else kept.push(...dropped.before(event), event);
    }
    this.#hold(kept);
  }

  clear(): void {
    this.#hold([]);
  }

  #hold(kept: AgentEvent[]): void {
    this.#events = kept;
    this.#first = 0;
    this.weight = kept.reduce((sum, event) => sum + weightOf(event), 0);
  }
}

/** The estimated size of an event in bytes: its text, and a constant for the rest. Durable events are never dropped, so they need no exact size. */
function weightOf(event: AgentEvent): number {
  return "delta" in event ? 64 + event.delta.length * 2 : 128;
}
