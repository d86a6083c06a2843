import type { IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** Bytes read ahead of the reader before the socket is paused. */
export const readAheadBytes: number = 256 * 1024;

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

/** The bytes as a web stream. `settled` is called once, when the body has ended, failed or was cancelled. */
export function webStreamOf(source: Readable, signal: AbortSignal | undefined, settled: () => void): ReadableStream<Uint8Array> {
  let closed = false;
  const close = (): boolean => {
    if (closed) return false;
    closed = true;
    settled();
    return true;
  };
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    source.on("data", (bytes: Uint8Array) => {
      if (closed) return;
      controller.enqueue(bytes);
      if ((controller.desiredSize ?? 0) <= 0) source.pause();
    });
    source.once("end", () => {
      if (close()) controller.close();
    });
    const fail = (error?: unknown): void => {
      if (close()) controller.error(signal?.aborted ? signal.reason : new TypeError("terminated", { cause: error }));
    };
    source.once("error", fail);
    source.once("close", () => fail(new Error("The connection was closed before the body had ended.")));
  };
  const pull = (): void => {
    if (source.isPaused()) source.resume();
  };
  const cancel = (): void => {
    if (close()) source.destroy();
  };
  return new ReadableStream<Uint8Array>({ start, pull, cancel }, new ByteLengthQueuingStrategy({ highWaterMark: readAheadBytes }));
}
