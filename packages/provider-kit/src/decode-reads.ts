import type { ModelChunk } from "@loopwright/core";
import { decodeSoundly } from "./sound-chunks.ts";

/** Turns the events of one answer, in order, into chunks. */
export interface ChunkDecoder<Event> {
  /** True once the vendor's own end has come; what follows it is not taken. */
  readonly ended: boolean;
  /** Adds the chunks of one event. @throws AgentError for an error that the vendor sent; SyntaxError for what is no JSON. */
  take(event: Event, out: ModelChunk[]): void;
  /** Adds what the end of the body completes. @throws AgentError MODEL_STREAM_BROKEN when the vendor's own end has not come. */
  finish(out: ModelChunk[]): void;
}

/**
 * The chunks of an answer, one array per read that made some; `parse` makes an event of each line or server-sent event. What came before an error is given before the error is thrown, also where one read
 * held both: a caller keeps and counts what the vendor has sent. After the vendor's own end the rest of the body is read without being awaited,
 * so that its connection can be used again; leaving earlier closes it. What has another shape than the decoder expects is MODEL_PROTOCOL.
 */
export async function* decodeReads<Read, Event>(
  reads: AsyncIterator<readonly Read[], undefined>,
  decoder: ChunkDecoder<Event>,
  parse: (read: Read) => Event,
): AsyncGenerator<readonly ModelChunk[], undefined> {
  let isOpen = true;
  try {
    while (isOpen) {
      const read = await reads.next();
      const out: ModelChunk[] = [];
      const failure = failureIn(() => {
        if (read.done) decodeSoundly(out, () => decoder.finish(out));
        else
          for (const each of read.value) {
            if (decoder.ended) break;
            decodeSoundly(out, () => decoder.take(parse(each), out));
          }
      });
      isOpen = !read.done && !decoder.ended;
      if (!isOpen && !read.done) void drain(reads);
      if (out.length > 0) yield out;
      if (failure) throw failure.error;
    }
  } finally {
    if (isOpen) await reads.return?.();
  }
}

/** The chunks of an answer that came in one piece, as `decodeReads` gives them. */
export function decodeWhole<Event>(
  events: readonly Event[],
  decoder: ChunkDecoder<Event>,
): AsyncGenerator<readonly ModelChunk[], undefined> {
  return decodeReads(onlyRead(events), decoder, (event) => event);
}

async function* onlyRead<Event>(events: readonly Event[]): AsyncGenerator<readonly Event[], undefined> {
  yield events;
}

/** What an attempt threw; `undefined` when it threw nothing. */
export function failureIn(attempt: () => void): { readonly error: unknown } | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return { error };
  }
}

async function drain(reads: AsyncIterator<unknown, undefined>): Promise<void> {
  try {
    const { done } = await reads.next();
    if (!done) await reads.return?.();
  } catch {
    // The answer is complete; how its connection ends does not matter.
  }
}
