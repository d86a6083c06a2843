import type { ModelChunk } from "@loopwright/core";
import type { ReadConsumer } from "../body/body-reader.ts";
import { failureIn } from "../body/failure-in.ts";
import type { ChunkDecoder } from "./chunk-decoder.ts";
import { decodeSoundly } from "./sound-chunks.ts";

/** The parts that decode one answer. */
export interface Decoding<Read, Event> {
  readonly decoder: ChunkDecoder<Event>;
  readonly parse: (read: Read) => Event;
  /** The signal of the call. It is checked because an aborted call may look like one whose body ended. */
  readonly signal: AbortSignal;
  /** Closes the call, and returns the error to throw for an error of the body or the decoder. */
  readonly fail: (error: unknown) => unknown;
  /** Called when the answer is complete. */
  readonly onEnd: () => void;
}

const alive: ModelChunk = { type: "alive" };

/**
 * One array of chunks per read of the socket. Chunks before an error are yielded before the error is thrown, also when one read had both.
 * A read whose events give no chunk is a sign of life.
 */
export class DecodedReads<Read, Event> implements ReadConsumer<Read, readonly ModelChunk[]> {
  readonly #decoding: Decoding<Read, Event>;
  ended = false;
  failure: ReturnType<typeof failureIn>;

  constructor(decoding: Decoding<Read, Event>) {
    this.#decoding = decoding;
  }

  take(reads: readonly Read[]): readonly ModelChunk[] | undefined {
    const { decoder, parse } = this.#decoding;
    return this.#chunksOf((out) => {
      for (const read of reads) {
        if (decoder.ended) break;
        decoder.take(parse(read), out);
      }
      if (!decoder.ended && out.length === 0) out.push(alive);
      return decoder.ended;
    });
  }

  /** The chunks of an answer in one piece. */
  takeWhole(answer: unknown): readonly ModelChunk[] | undefined {
    return this.#chunksOf((out) => {
      this.#decoding.decoder.takeWhole(answer, out);
      return true;
    });
  }

  finish(): readonly ModelChunk[] | undefined {
    return this.#chunksOf(() => true);
  }

  fail(error: unknown): unknown {
    return this.#decoding.fail(error);
  }

  /** The chunks that `work` adds; it returns whether the answer is complete. */
  #chunksOf(work: (out: ModelChunk[]) => boolean): readonly ModelChunk[] | undefined {
    const { signal, decoder, onEnd } = this.#decoding;
    const out: ModelChunk[] = [];
    let isComplete = false;
    this.failure = failureIn(() =>
      decodeSoundly(out, () => {
        isComplete = work(out);
        if (!isComplete) return;
        signal.throwIfAborted();
        decoder.finish(out);
      }),
    );
    if (isComplete && this.failure === undefined) {
      this.ended = true;
      onEnd();
    }
    return out.length === 0 ? undefined : out;
  }
}
