/*
 * Owns: one read of a log for all readers of a session that need the same place at the same time.
 * Does not own: which events a reader gets (the feed), how the log is read (core).
 * Invariants
 *  H1 a reader gets every batch from its place on, once and in order, and never waits for a slower one;
 *  H2 a read keeps the last `keptBatches` batches: a reader that falls behind them reads alone; a reader that comes too late for the first begins a new read;
 *  H3 a read ends with its last reader.
 */
import { readHistory } from "@loopwright/core";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import { type DurableEvent, type EventCursor, encodeCursor } from "@loopwright/core/protocol";

type Batch = readonly DurableEvent[];

/** Batches that one read keeps for readers that are a little behind: each is about 256 KiB of facts. */
export const keptBatches = 4;

/** The log of one session, for its readers. */
export class SharedHistory {
  readonly #store: SessionStore;
  readonly #ref: SessionRef;
  readonly #reads = new Map<string, SharedRead>();

  constructor(store: SessionStore, ref: SessionRef) {
    this.#store = store;
    this.#ref = ref;
  }

  /** The events after the cursor, at least up to `lastSeq`: the last fact that is known to be in the log now. */
  async *after(cursor: EventCursor, lastSeq: number): AsyncGenerator<Batch, void> {
    const key = encodeCursor(cursor);
    const running = this.#reads.get(key);
    // A read that began with an older last fact may have ended before this one.
    const read = running?.isWhole && running.upTo === lastSeq ? running : new SharedRead(this.#read(cursor), lastSeq);
    this.#reads.set(key, read);
    read.readers += 1;
    let last = cursor;
    try {
      for (let place = 0; ; place++) {
        const batch = await read.at(place);
        if (batch === "gone") break;
        if (batch === "end") return;
        last = batch.at(-1) ?? last;
        yield batch;
      }
    } finally {
      read.readers -= 1;
      if (read.readers === 0) {
        if (this.#reads.get(key) === read) this.#reads.delete(key);
        read.end();
      }
    }
    yield* this.#read(last);
  }

  #read(after: EventCursor): AsyncGenerator<Batch, void> {
    return readHistory(this.#store, this.#ref, { after });
  }
}

class SharedRead {
  readonly upTo: number;
  readers = 0;
  readonly #history: AsyncGenerator<Batch, void>;
  readonly #kept: Batch[] = [];
  #dropped = 0;
  #isOver = false;
  #isBroken = false;
  #next: Promise<void> | undefined;

  constructor(history: AsyncGenerator<Batch, void>, upTo: number) {
    this.#history = history;
    this.upTo = upTo;
  }

  /** True if a reader that comes now can still get every batch. */
  get isWhole(): boolean {
    return this.#dropped === 0 && !this.#isBroken;
  }

  async at(place: number): Promise<Batch | "gone" | "end"> {
    for (;;) {
      if (place < this.#dropped) return "gone";
      const kept = this.#kept[place - this.#dropped];
      if (kept) return kept;
      if (this.#isOver) return "end";
      this.#next ??= this.#readOn();
      await this.#next;
    }
  }

  end(): void {
    void this.#history.return().catch(() => {});
  }

  async #readOn(): Promise<void> {
    const { done, value } = await this.#nextBatch();
    this.#next = undefined;
    if (done) this.#isOver = true;
    else this.#kept.push(value);
    if (this.#kept.length <= keptBatches) return;
    this.#kept.shift();
    this.#dropped += 1;
  }

  /** An error fails all readers of this read; the next reader begins a new read. */
  async #nextBatch(): Promise<IteratorResult<Batch, void>> {
    try {
      return await this.#history.next();
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }
}
