import { bodyTooLarge } from "./body-limits.ts";
import { type BodyParser, BodyReader, pendingCharsMax, type ReadConsumer, type ReaderOptions } from "./body-reader.ts";

/**
 * The lines of a newline-delimited JSON body, one array per read that completed at least one. Blank lines are skipped, a CR
 * before the LF is left to the JSON parser (it is white space), a last line without its LF is given at the end. Leaving the
 * loop early cancels the body. Linear in the size of the body, however it is cut.
 * @throws AgentError MODEL_PROTOCOL when a line grows over `pendingCharsMax` or the body over `streamBytesMax`; errors of the body itself are passed on.
 */
export function readNdjson(body: ReadableStream<Uint8Array>, options: ReaderOptions = {}): AsyncIterableIterator<readonly string[]> {
  return mapNdjson(body, { take: (lines) => lines, finish: () => undefined }, options);
}

/** As `readNdjson`, with what a consumer makes of each read's lines. */
export function mapNdjson<Item>(
  body: ReadableStream<Uint8Array>,
  consumer: ReadConsumer<string, Item>,
  options: ReaderOptions = {},
): BodyReader<Item> {
  return new BodyReader(body, new MappedLines(consumer, options.pendingCharsMax ?? pendingCharsMax), options);
}

class MappedLines<Item> implements BodyParser<Item> {
  readonly #consumer: ReadConsumer<string, Item>;
  readonly #charsMax: number;
  #pending = "";
  #overflow: { readonly error: unknown } | undefined;

  constructor(consumer: ReadConsumer<string, Item>, charsMax: number) {
    this.#consumer = consumer;
    this.#charsMax = charsMax;
  }

  /** What the consumer could not take stood before the line that grew too long; what breaks after the end breaks nothing. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#consumer.failure ?? (this.#consumer.ended ? undefined : this.#overflow);
  }

  get ended(): boolean {
    return this.#consumer.ended === true;
  }

  feed(text: string): Item | undefined {
    const lines: string[] = [];
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const line = this.#pending + text.slice(start, end);
      this.#pending = "";
      if (!isBlank(line)) lines.push(line);
      start = end + 1;
    }
    if (start < text.length) this.#pending += text.slice(start);
    if (this.#pending.length > this.#charsMax) this.#overflow = { error: bodyTooLarge("pendingCharsMax", this.#charsMax) };
    return lines.length === 0 ? undefined : this.#consumer.take(lines);
  }

  /** A last line without its LF. */
  rest(): Item | undefined {
    const line = this.#pending;
    this.#pending = "";
    return isBlank(line) ? undefined : this.#consumer.take([line]);
  }

  finish(): Item | undefined {
    return this.#consumer.finish();
  }

  fail(error: unknown): unknown {
    return this.#consumer.fail ? this.#consumer.fail(error) : error;
  }
}

function isBlank(line: string): boolean {
  return line === "" || line === "\r" || line.trim() === "";
}
