import { bodyTooLarge } from "./body-limits.ts";
import { type BodyParser, BodyReader, pendingCharsMax, type ReadConsumer, type ReaderOptions } from "./body-reader.ts";
import { failureIn } from "./failure-in.ts";

/** One server-sent event. */
export interface SseEvent {
  /** The event's name; empty when none was sent. */
  readonly event: string;
  /** The `data` lines, joined with `\n`. */
  readonly data: string;
}

/**
 * The events of a `text/event-stream`, one array per read that completed at least one. Follows the standard's parsing rules:
 * CR, LF and CRLF end a line, comments and unknown fields are skipped, a byte order mark is dropped, an event without data or
 * without its closing blank line is no event. `id` and `retry` are skipped, because answers of models are never resumed.
 * Leaving the loop early cancels the body. Linear in the size of the body, however it is cut.
 * @throws AgentError MODEL_PROTOCOL when an event grows over `pendingCharsMax` or the body over `streamBytesMax`; errors of the body itself are passed on.
 */
export function readSse(body: ReadableStream<Uint8Array>, options: ReaderOptions = {}): AsyncIterableIterator<readonly SseEvent[]> {
  return mapSse(body, { take: (events) => events, finish: () => undefined }, options);
}

/** As `readSse`, with what a consumer makes of each read's events: the cheapest way from a socket to a batch, one promise for each. */
export function mapSse<Item>(
  body: ReadableStream<Uint8Array>,
  consumer: ReadConsumer<SseEvent, Item>,
  options: ReaderOptions = {},
): BodyReader<Item> {
  return new BodyReader(body, new MappedEvents(consumer, options.pendingCharsMax ?? pendingCharsMax), options);
}

class MappedEvents<Item> implements BodyParser<Item> {
  readonly #consumer: ReadConsumer<SseEvent, Item>;
  readonly #parser: SseParser;

  constructor(consumer: ReadConsumer<SseEvent, Item>, charsMax: number) {
    this.#consumer = consumer;
    this.#parser = new SseParser(charsMax);
  }

  /** What the consumer could not take stood before what the parser could not read; what breaks after the end breaks nothing. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#consumer.failure ?? (this.#consumer.ended ? undefined : this.#parser.failure);
  }

  get ended(): boolean {
    return this.#consumer.ended === true;
  }

  feed(text: string): Item | undefined {
    const events = this.#parser.feed(text);
    return events.length === 0 ? undefined : this.#consumer.take(events);
  }

  finish(): Item | undefined {
    return this.#consumer.finish();
  }

  fail(error: unknown): unknown {
    return this.#consumer.fail ? this.#consumer.fail(error) : error;
  }
}

const lineFeed = 10;
const space = 32;
const colon = 58;
const none: readonly SseEvent[] = [];

/** The state between two reads. A pending line is only appended to, never looked at, until its end is there: so no read costs more than its own size. */
class SseParser {
  readonly #charsMax: number;
  #pending = "";
  /** The last read ended with CR: an LF at the start of the next one belongs to it. */
  #skipLineFeed = false;
  #event = "";
  #data: string | undefined;
  #out: SseEvent[] = [];
  /** Why nothing more can be read of this body. */
  failure: { readonly error: unknown } | undefined;

  constructor(charsMax: number) {
    this.#charsMax = charsMax;
  }

  feed(text: string): readonly SseEvent[] {
    if (text === "") return none;
    const from = this.#skipLineFeed && text.charCodeAt(0) === lineFeed ? 1 : 0;
    this.#skipLineFeed = false;
    this.failure = failureIn(() => {
      if (text.includes("\r")) this.#feedMixed(text, from);
      else this.#feedLineFeeds(text, from);
    });
    if (this.#out.length === 0) return none;
    const events = this.#out;
    this.#out = [];
    return events;
  }

  #feedLineFeeds(text: string, from: number): void {
    let start = from;
    for (let end = text.indexOf("\n", start); end !== -1; end = text.indexOf("\n", start)) {
      this.#endLine(text, start, end);
      start = end + 1;
    }
    if (start < text.length) this.#keep(start === 0 ? text : text.slice(start));
  }

  /** The same where CR may end a line, too. Each of the two searches runs over the text once. */
  #feedMixed(text: string, from: number): void {
    let start = from;
    let nextFeed = text.indexOf("\n", start);
    let nextReturn = text.indexOf("\r", start);
    while (nextFeed !== -1 || nextReturn !== -1) {
      const atReturn = nextFeed === -1 || (nextReturn !== -1 && nextReturn < nextFeed);
      const end = atReturn ? nextReturn : nextFeed;
      this.#endLine(text, start, end);
      start = end + 1;
      if (atReturn && start === nextFeed) start++;
      else if (atReturn && start === text.length) this.#skipLineFeed = true;
      if (nextFeed !== -1 && nextFeed < start) nextFeed = text.indexOf("\n", start);
      if (nextReturn !== -1 && nextReturn < start) nextReturn = text.indexOf("\r", start);
    }
    if (start < text.length) this.#keep(text.slice(start));
  }

  /** Keeps the start of a line whose end has not come. */
  #keep(text: string): void {
    this.#pending += text;
    if (this.#pending.length > this.#charsMax) throw bodyTooLarge("pendingCharsMax", this.#charsMax);
  }

  /** Ends the line at `end`, together with what of it came before. */
  #endLine(text: string, start: number, end: number): void {
    if (this.#pending === "") this.#takeLine(text, start, end);
    else {
      const line = this.#pending + text.slice(start, end);
      this.#pending = "";
      this.#takeLine(line, 0, line.length);
    }
  }

  /** Takes the line `text[start, end)`. */
  #takeLine(text: string, start: number, end: number): void {
    if (start === end) this.#dispatch();
    else if (text.startsWith("data", start)) {
      if (end === start + 4) this.#addData("");
      else if (text.charCodeAt(start + 4) === colon) this.#addData(fieldValue(text, start + 5, end));
    } else if (text.startsWith("event", start)) {
      if (end === start + 5) this.#event = "";
      else if (text.charCodeAt(start + 5) === colon) this.#event = fieldValue(text, start + 6, end);
    }
  }

  #addData(value: string): void {
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    if (this.#data.length > this.#charsMax) throw bodyTooLarge("pendingCharsMax", this.#charsMax);
  }

  #dispatch(): void {
    if (this.#data !== undefined) this.#out.push({ event: this.#event, data: this.#data });
    this.#event = "";
    this.#data = undefined;
  }
}

/** The value of a field, without the one space that may follow the colon. */
function fieldValue(text: string, start: number, end: number): string {
  return text.slice(start < end && text.charCodeAt(start) === space ? start + 1 : start, end);
}
