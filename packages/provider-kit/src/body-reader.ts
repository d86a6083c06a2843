import { bodyLimits, bodyTooLarge } from "./body-limits.ts";
import { type ByteSource, byteSourceOf } from "./byte-source.ts";

/** Most characters that one line or one event may have before its end has come: 32 Mi, room for an image in base64. */
export const pendingCharsMax: number = 32 * 1024 * 1024;

/** The readers' options. */
export interface ReaderOptions {
  /** Most characters that one unfinished line or event may have. Default: `pendingCharsMax`. */
  readonly pendingCharsMax?: number;
  /** Most bytes of the whole body, after decompression. Default: `bodyLimits.streamBytes`. */
  readonly streamBytesMax?: number;
}

/** What is made of a body's text. */
export interface BodyParser<Item> {
  /** What this read's text completes; `undefined` for nothing. */
  feed(text: string): Item | undefined;
  /** Set by a `feed` or a `finish` that failed behind an item, which it gave back: thrown after that item, before another read. */
  readonly failure?: { readonly error: unknown } | undefined;
  /** What the end of the body completes. */
  finish(): Item | undefined;
  /** What to throw in place of an error of the body or the parser; `undefined` ends the items instead. Default: the error itself. */
  fail?(error: unknown): unknown;
}

const more = { stream: true } as const;

/**
 * The items a parser makes of a body, read as UTF-8: each read decoded once, characters cut between two reads joined, a byte
 * order mark dropped. One promise per item and no more. Leaving the loop early cancels the body.
 */
export class BodyReader<Item> implements AsyncIterableIterator<Item, undefined> {
  readonly #source: ByteSource;
  readonly #parser: BodyParser<Item>;
  readonly #decoder = new TextDecoder();
  readonly #bytesMax: number;
  #sizeBytes = 0;
  #ended = false;
  #failed = false;

  constructor(body: ReadableStream<Uint8Array>, parser: BodyParser<Item>, { streamBytesMax }: ReaderOptions = {}) {
    this.#source = byteSourceOf(body);
    this.#parser = parser;
    this.#bytesMax = streamBytesMax ?? bodyLimits.streamBytes;
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    try {
      this.#throwFailure();
      while (!this.#ended) {
        const read = this.#source.read();
        const bytes = read instanceof Promise ? await read : read;
        this.#ended = bytes === undefined;
        if (bytes !== undefined) this.#count(bytes);
        const item = bytes === undefined ? this.#parser.finish() : this.#parser.feed(this.#decoder.decode(bytes, more));
        if (item !== undefined) return { done: false, value: item };
        this.#throwFailure();
      }
    } catch (error) {
      this.#leave();
      const failure = this.#parser.fail ? this.#parser.fail(error) : error;
      if (failure !== undefined) throw failure;
    }
    return { done: true, value: undefined };
  }

  return(): Promise<IteratorResult<Item, undefined>> {
    this.#leave();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Throws once what a read held behind its items. */
  #throwFailure(): void {
    const { failure } = this.#parser;
    if (failure === undefined || this.#failed) return;
    this.#failed = true;
    throw failure.error;
  }

  #count(bytes: Uint8Array): void {
    this.#sizeBytes += bytes.length;
    if (this.#sizeBytes > this.#bytesMax) throw bodyTooLarge("streamBytes", this.#bytesMax);
  }

  #leave(): void {
    if (!this.#ended) this.#source.cancel();
    this.#ended = true;
  }
}
