import { bodyLimits, bodyTooLarge } from "./body-limits.ts";
import { type ByteSource, byteSourceOf, drain } from "./byte-source.ts";
import { Utf8Text } from "./utf8-text.ts";

/** Most characters that one line or one event may have before its end has come: 32 Mi, room for an image in base64. */
export const pendingCharsMax: number = 32 * 1024 * 1024;

/** The readers' options. */
export interface ReaderOptions {
  /** Most characters that one unfinished line or event may have. Default: `pendingCharsMax`. */
  readonly pendingCharsMax?: number;
  /** Most bytes of the whole body, after decompression. Default: `bodyLimits.streamBytes`. */
  readonly streamBytesMax?: number;
}

/** What is made of the events or lines of a body. */
export interface ReadConsumer<Read, Item> {
  /** What one read's events make; `undefined` for nothing. */
  take(reads: readonly Read[]): Item | undefined;
  /** True once nothing more is wanted: the rest of the body is read in the background, up to 64 KiB, so that its connection can be used again. */
  readonly ended?: boolean;
  /** Set by a `take` or a `finish` that failed behind an item, which it gave back: thrown after that item, before another read. */
  readonly failure?: { readonly error: unknown } | undefined;
  /** What the end of the body makes: the place to miss what has not come. */
  finish(): Item | undefined;
  /** What to throw in place of an error of the body or of the consumer. Default: the error itself. */
  fail?(error: unknown): unknown;
}

/** What is made of a body's text. */
export interface BodyParser<Item> {
  /** What this read's text completes; `undefined` for nothing. */
  feed(text: string): Item | undefined;
  /** True once nothing more of the body is wanted. */
  readonly ended?: boolean;
  /** Set by a `feed` or a `finish` that failed behind an item, which it gave back: thrown after that item, before another read. */
  readonly failure?: { readonly error: unknown } | undefined;
  /** What the end of the body completes of an unfinished piece; called once, before `finish`. */
  rest?(): Item | undefined;
  /** What the end of the body itself makes. */
  finish(): Item | undefined;
  /** What to throw in place of an error of the body or the parser. Default: the error itself. */
  fail?(error: unknown): unknown;
}

/**
 * The items a parser makes of a body, read as UTF-8: each read decoded once, characters cut between two reads joined, a byte
 * order mark dropped. One promise per item and no more. Leaving the loop early cancels the body.
 */
export class BodyReader<Item> implements AsyncIterableIterator<Item, undefined> {
  readonly #source: ByteSource;
  readonly #parser: BodyParser<Item>;
  readonly #text = new Utf8Text();
  readonly #bytesMax: number;
  #sizeBytes = 0;
  /** The body has ended. */
  #isRead = false;
  /** The items have ended. */
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
        const read = this.#isRead ? undefined : this.#source.read();
        const bytes = read instanceof Promise ? await read : read;
        const item = bytes === undefined ? this.#endBody() : this.#feed(bytes);
        if (this.#parser.ended) this.#finish();
        if (item !== undefined) return { done: false, value: item };
        this.#throwFailure();
      }
    } catch (error) {
      this.#leave();
      throw this.#parser.fail ? this.#parser.fail(error) : error;
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

  #feed(bytes: Uint8Array): Item | undefined {
    this.#sizeBytes += bytes.length;
    if (this.#sizeBytes > this.#bytesMax) throw bodyTooLarge("streamBytes", this.#bytesMax);
    return this.#parser.feed(this.#text.decode(bytes));
  }

  #endBody(): Item | undefined {
    const hasRest = !this.#isRead && this.#parser.rest !== undefined;
    this.#isRead = true;
    if (hasRest) return this.#parser.rest?.();
    this.#ended = true;
    return this.#parser.finish();
  }

  /** The items are complete; the rest of the body is no longer waited for. */
  #finish(): void {
    if (!this.#isRead) void drain(this.#source);
    this.#ended = true;
  }

  #leave(): void {
    if (!this.#ended) this.#source.cancel();
    this.#ended = true;
  }
}
