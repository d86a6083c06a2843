/*
 * Owns: the limit of the queue of one event stream. Frames longer than the limit are sent piece by piece.
 * Does not own: the frames (feeds, routes), how bytes reach the other side (the sink beneath).
 * Invariants
 *  Q1 order: a frame that is written during another one comes after it, never within it;
 *  Q2 bound: a frame is made piece by piece; a piece is written if it fits into the queue or the queue is empty, and the next piece is made after that;
 *  Q3 a stream is cut if its queue does not become empty within `streamStallMs` while a frame waits;
 *  Q4 one stream does not block the event loop: after 128 KiB it yields;
 *  Q5 frames that cannot be replayed are held beside a full queue, up to the same number of bytes; beyond that the stream is cut.
 */
import type { Clock } from "@loopwright/core/ports";
import type { HttpLimits } from "../server-limits.ts";
import type { EventSink } from "./event-sink.ts";
import { inPieces } from "./json-in-pieces.ts";
import { encodeFrames, type FrameText } from "./sse-frames.ts";

/** The limits of a bounded sink. */
export interface SinkBounds {
  readonly limits: Pick<HttpLimits, "streamQueueBytes" | "streamStallMs">;
  readonly clock: Clock;
}

/** Bytes of long frames that are written in one turn of the event loop. */
const turnBytes = 128 * 1024;

/** What happens to a frame for which there is no room. */
export interface FrameUse {
  /** The frame replaces the older frame of this key that is still held. Default: it is held as well. */
  readonly key?: string;
  /** True if the frame is dropped, because a later frame replaces it. */
  readonly isSpare?: boolean;
}

/** An entry that waits for room: bytes, or texts that are not made yet. */
interface Waiting {
  /** The bytes that are made but not written yet. */
  next: Uint8Array | undefined;
  readonly pieces: Iterator<string>;
  readonly done: () => void;
  /** Present for a held frame; it is written whole. */
  readonly held?: { readonly key: string | undefined };
}

const noPieces: Iterator<string> = { next: () => ({ done: true, value: undefined }) };

/** A sink with a bounded queue. */
export class BoundedSendQueue implements EventSink {
  readonly #sink: EventSink;
  readonly #bounds: SinkBounds;
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** The part of `#waitingBytes` that is held. */
  #heldBytes = 0;
  #drains: (() => void)[] = [];
  #cancelStall: (() => void) | undefined;
  /** True while this waits for an empty queue, or for another turn of the event loop. */
  #isPaused = false;
  #endsAfter = false;
  #isOver = false;
  /** This side has ended or cut the stream. */
  #isEndedHere = false;

  /** Wraps a sink; a bounded sink is returned unchanged. */
  static over(sink: EventSink, bounds: SinkBounds): BoundedSendQueue {
    return sink instanceof BoundedSendQueue ? sink : new BoundedSendQueue(sink, bounds);
  }

  private constructor(sink: EventSink, bounds: SinkBounds) {
    this.#sink = sink;
    this.#bounds = bounds;
    sink.onClose(() => this.#close());
  }

  /** True if this many more bytes may be queued now. */
  hasRoom(bytes: number): boolean {
    return this.queuedBytes + bytes <= this.#bounds.limits.streamQueueBytes;
  }

  get queuedBytes(): number {
    return this.#sink.queuedBytes + this.#waitingBytes;
  }

  /** Queues a short frame. */
  write(bytes: Uint8Array): void {
    if (this.#waiting.length === 0) this.#sink.write(bytes);
    else this.#enqueue({ next: bytes, pieces: noPieces, done: () => {} });
  }

  /** Writes the texts of whole frames piece by piece. Resolves when all of them are queued, or the stream is over. */
  pour(texts: Iterable<string>): Promise<void> {
    if (this.#isOver || this.#endsAfter) return Promise.resolve();
    return new Promise((done) => {
      this.#enqueue({ next: undefined, pieces: inPieces(texts), done });
      if (!this.#isPaused) this.#flow();
    });
  }

  /** Writes a frame that cannot be replayed. A stream that would have to hold too many is cut: its reader connects again and reads the state. */
  offer(text: FrameText, { key, isSpare = false }: FrameUse = {}): void {
    if (this.#heldBytes === 0 && this.hasRoom(0)) {
      void this.pour(text);
      return;
    }
    if (isSpare || this.#isOver || this.#endsAfter) return;
    if (key !== undefined) this.#dropHeld(key);
    const next = encodeFrames([...text].join(""));
    this.#enqueue({ next, pieces: noPieces, done: () => {}, held: { key } });
    this.#heldBytes += next.byteLength;
    if (this.#heldBytes > this.#bounds.limits.streamQueueBytes) this.destroy();
    else if (!this.#isPaused) this.#awaitDrain();
  }

  onDrain(callback: () => void): void {
    if (this.#isOver || (this.#waiting.length === 0 && this.#sink.queuedBytes === 0)) {
      callback();
      return;
    }
    this.#drains.push(callback);
    if (!this.#isPaused) this.#awaitDrain();
  }

  onClose(callback: () => void): void {
    this.#sink.onClose(callback);
  }

  /** True if the reader has closed the stream before this side ended or cut it. */
  get isLeft(): boolean {
    return this.#isOver && !this.#isEndedHere;
  }

  end(): void {
    this.#isEndedHere = true;
    if (this.#waiting.length > 0) this.#endsAfter = true;
    else this.#sink.end();
  }

  destroy(): void {
    this.#isEndedHere = true;
    this.#sink.destroy();
  }

  #enqueue(one: Waiting): void {
    if (this.#isOver || this.#endsAfter) return;
    this.#waiting.push(one);
    this.#waitingBytes += one.next?.byteLength ?? 0;
  }

  #dropHeld(key: string): void {
    const at = this.#waiting.findIndex(({ held }) => held?.key === key);
    const bytes = at < 0 ? 0 : (this.#waiting.splice(at, 1)[0]?.next?.byteLength ?? 0);
    this.#waitingBytes -= bytes;
    this.#heldBytes -= bytes;
  }

  /** Writes entries while there is room. */
  #flow(): void {
    let written = 0;
    for (let one = this.#waiting[0]; one && !this.#isOver; one = this.#waiting[0]) {
      const bytes = one.next ?? nextOf(one);
      if (!bytes) {
        this.#waiting.shift();
        one.done();
        continue;
      }
      this.#keep(one, bytes);
      // The entries behind this one count too. If the sink has an empty queue, writing continues, one piece at a time.
      if (!this.hasRoom(0) && this.#sink.queuedBytes > 0) {
        this.#awaitDrain();
        return;
      }
      if (written >= turnBytes) {
        this.#awaitTurn();
        return;
      }
      this.#waitingBytes -= bytes.byteLength;
      if (one.held) {
        this.#waiting.shift();
        this.#heldBytes -= bytes.byteLength;
      }
      one.next = undefined;
      this.#sink.write(bytes);
      written += bytes.byteLength;
    }
    if (this.#isOver) return;
    if (this.#endsAfter) this.#sink.end();
    if (this.#drains.length > 0) this.#awaitDrain();
  }

  /** Notes the next bytes of an entry, and counts them. */
  #keep(one: Waiting, bytes: Uint8Array): void {
    if (!one.next) this.#waitingBytes += bytes.byteLength;
    one.next = bytes;
  }

  #awaitTurn(): void {
    this.#isPaused = true;
    this.#bounds.clock.soon(() => this.#proceed());
  }

  #awaitDrain(): void {
    const { clock, limits } = this.#bounds;
    this.#isPaused = true;
    this.#cancelStall = clock.after(limits.streamStallMs, () => this.destroy());
    this.#sink.onDrain(() => this.#proceed());
  }

  #proceed(): void {
    this.#cancelStall?.();
    this.#cancelStall = undefined;
    this.#isPaused = false;
    if (this.#isOver) return;
    if (this.#waiting.length > 0) this.#flow();
    else this.#drained();
  }

  #drained(): void {
    const drains = this.#drains;
    this.#drains = [];
    for (const drain of drains) drain();
  }

  #close(): void {
    this.#isOver = true;
    this.#cancelStall?.();
    for (const { done } of this.#waiting.splice(0)) done();
    this.#waitingBytes = 0;
    this.#heldBytes = 0;
    this.#drained();
  }
}

function nextOf({ pieces }: Waiting): Uint8Array | undefined {
  const { done, value } = pieces.next();
  return done ? undefined : encodeFrames(value);
}
