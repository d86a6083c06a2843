import type { IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** A body, or the beginning of a longer one. */
export interface ReadBody {
  readonly bytes: Uint8Array;
  /** There was more than `bytesMax`. */
  readonly isCut: boolean;
}

const decoders = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress };

/** Whether a body in this `content-encoding` can be read: none, or one of gzip, deflate and br. */
export function isKnownEncoding(encoding: string): boolean {
  return encoding === "" || encoding === "identity" || Object.hasOwn(decoders, encoding);
}

/** Reads a body up to so many bytes, counted before and after decompression, and closes the connection. Holds no more than them in memory. */
export async function readBody(message: IncomingMessage, encoding: string, bytesMax: number): Promise<ReadBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let received = 0;
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding as keyof typeof decoders]() : undefined;
  message.on("data", (chunk: Uint8Array) => {
    received += chunk.length;
  });
  // Errors of the connection reach the reader through the decoder.
  const body: Readable = decoder ? pipeline(message, decoder, () => {}) : message;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      const room = bytesMax - size;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      size += Math.min(chunk.length, room);
      if (chunk.length > room || received > bytesMax) return { bytes: Buffer.concat(chunks), isCut: true };
    }
    return { bytes: Buffer.concat(chunks), isCut: false };
  } finally {
    message.destroy();
    decoder?.destroy();
  }
}
