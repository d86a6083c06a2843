/** Bytes for one reader, without the cost of a web stream around each piece. */
export interface ByteSource {
  /** The next piece: at once where it is there, `undefined` at the end. One call at a time. */
  read(): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** What has not been read is not wanted. */
  cancel(): void;
}

const key = Symbol.for("@loopwright/byte-source");

/** Lets a stream's bytes be read past the stream, by the only reader of the whole stream; the stream itself must not be read then. */
export function attachByteSource(body: ReadableStream<Uint8Array>, source: ByteSource): void {
  Object.defineProperty(body, key, { value: source });
}

/** The bytes of a body: its own source where it has one, else its reader. Locks the stream in either case. */
export function byteSourceOf(body: ReadableStream<Uint8Array>): ByteSource {
  const reader = body.getReader();
  if (hasByteSource(body)) return body[key];
  const pieceOf = ({ value }: { readonly value?: Uint8Array | undefined }): Uint8Array | undefined => value;
  return { read: () => reader.read().then(pieceOf), cancel: () => void reader.cancel().catch(() => undefined) };
}

function hasByteSource(body: ReadableStream<Uint8Array>): body is ReadableStream<Uint8Array> & { readonly [key]: ByteSource } {
  return key in body;
}

/** Most bytes that are read of a body whose answer is complete, so that its connection can be used again. */
export const drainBytesMax: number = 64 * 1024;

/** Reads the rest of a body whose answer is complete, and closes the connection where more comes than `drainBytesMax`. */
export async function drain(source: ByteSource): Promise<void> {
  try {
    let sizeBytes = 0;
    for (let piece = await source.read(); piece !== undefined; piece = await source.read()) {
      sizeBytes += piece.length;
      if (sizeBytes > drainBytesMax) return source.cancel();
    }
  } catch {
    // The answer is complete; how its connection ends does not matter.
  }
}
