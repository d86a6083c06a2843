import type { IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { attachByteSource, type ByteSource } from "../body/byte-source.ts";

/** Bytes read ahead of the reader before the socket is paused. */
const readAheadBytes = 256 * 1024;

/** The body's bytes, decompressed, each piece as soon as it can be. */
export function decodedBody(message: IncomingMessage): Readable {
  const decoder = decoderFor(message.headers["content-encoding"]);
  if (decoder === undefined) return message;
  // The pipeline destroys either side when the other one fails; the reader sees the error on the decoder.
  return pipeline(message, decoder, () => undefined);
}

function decoderFor(encoding: string | undefined): (Readable & NodeJS.ReadWriteStream) | undefined {
  // Flushed per piece: a server that flushes after each event is not held back by the decoder's own buffer.
  const flushed = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
  switch (encoding?.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip(flushed);
    case "deflate":
      return createInflate(flushed);
    case "br":
      return createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH });
    default:
      return undefined;
  }
}

/** The pieces of a body between the socket, which pushes, and its one reader, which pulls. */
class PieceQueue implements ByteSource {
  readonly #stream: Readable;
  readonly #signal: AbortSignal | undefined;
  readonly #settled: () => void;
  readonly #pieces: Uint8Array[] = [];
  #first = 0;
  #sizeBytes = 0;
  #waiting: { resolve(piece: Uint8Array | undefined): void; reject(error: unknown): void } | undefined;
  /** Set once: how the body ended. */
  #ending: { readonly error?: unknown } | undefined;

  constructor(stream: Readable, signal: AbortSignal | undefined, settled: () => void) {
    this.#stream = stream;
    this.#signal = signal;
    this.#settled = settled;
    stream.on("data", (piece: Uint8Array) => this.#push(piece));
    stream.once("end", () => this.#end({}));
    const fail = (cause: unknown): void => this.#end({ error: signal?.aborted ? signal.reason : new TypeError("terminated", { cause }) });
    stream.once("error", fail);
    stream.once("close", () => {
      // Every body ends with this event; the error and its stack are made only for one that was not complete.
      if (this.#ending === undefined) fail(new Error("The connection was closed before the body had ended."));
    });
  }

  read(): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const piece = this.#pieces[this.#first];
    if (piece !== undefined) return this.#shift(piece);
    if (this.#ending !== undefined) return this.#endingOf(this.#ending);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  cancel(): void {
    const wasOpen = this.#ending === undefined;
    this.#end({});
    if (wasOpen) this.#stream.destroy();
  }

  #shift(piece: Uint8Array): Uint8Array {
    this.#first++;
    this.#sizeBytes -= piece.length;
    if (this.#first === this.#pieces.length) {
      this.#pieces.length = 0;
      this.#first = 0;
    }
    if (this.#stream.isPaused() && this.#sizeBytes < readAheadBytes) this.#stream.resume();
    return piece;
  }

  #endingOf(ending: { readonly error?: unknown }): undefined | Promise<never> {
    return "error" in ending ? Promise.reject(ending.error) : undefined;
  }

  #push(piece: Uint8Array): void {
    if (this.#ending !== undefined) return;
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      this.#waiting = undefined;
      waiting.resolve(piece);
      return;
    }
    this.#pieces.push(piece);
    this.#sizeBytes += piece.length;
    if (this.#sizeBytes >= readAheadBytes) this.#stream.pause();
  }

  #end(ending: { readonly error?: unknown }): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#settled();
    // Of an aborted answer nothing is wanted, not even what was read ahead.
    if (this.#signal?.aborted) this.#pieces.length = 0;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) return;
    if ("error" in ending) waiting.reject(ending.error);
    else waiting.resolve(undefined);
  }
}

/**
 * The bytes as a web stream, which `readSse` and `readNdjson` read past. `settled` is called once, when the body has ended,
 * failed or was cancelled.
 */
export function webStreamOf(stream: Readable, signal: AbortSignal | undefined, settled: () => void): ReadableStream<Uint8Array> {
  const queue = new PieceQueue(stream, signal, settled);
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const piece = await queue.read();
    if (piece === undefined) controller.close();
    else controller.enqueue(piece);
  };
  // Nothing is read ahead into the web stream, or the readers could not read past it.
  const body = new ReadableStream<Uint8Array>({ pull, cancel: () => queue.cancel() }, { highWaterMark: 0 });
  attachByteSource(body, queue);
  return body;
}
