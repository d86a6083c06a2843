import { batches, createTextSource, pendingCharsMax, pendingTooLong, type ReaderOptions } from "./text-source.ts";

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
 * @throws AgentError MODEL_PROTOCOL when an event grows over `pendingCharsMax`; whatever the body itself throws is passed on.
 */
export function readSse(body: ReadableStream<Uint8Array>, options: ReaderOptions = {}): AsyncIterableIterator<readonly SseEvent[]> {
  return batches(createTextSource(body), createSseParser(options));
}

const lineFeed = 10;
const space = 32;
const colon = 58;

/** The state between two reads. A pending line is only appended to, never looked at, until its end is there: so no read costs more than its own size. */
interface SseParser {
  feed(text: string): readonly SseEvent[];
  finish(): readonly SseEvent[];
}

/** A parser that is fed decoded text; for `readSse` and for bodies that are no stream. */
function createSseParser(options: ReaderOptions = {}): SseParser {
  const charsMax = options.pendingCharsMax ?? pendingCharsMax;
  let pending = "";
  /** The last read ended with CR: an LF at the start of the next one belongs to it. */
  let skipLineFeed = false;
  let event = "";
  let data: string | undefined;
  let out: SseEvent[] = [];

  const dispatch = (): void => {
    if (data !== undefined) out.push({ event, data });
    event = "";
    data = undefined;
  };

  /** Takes the line `text[start, end)`. */
  const takeLine = (text: string, start: number, end: number): void => {
    if (start === end) dispatch();
    else if (text.startsWith("data", start)) {
      if (end === start + 4) addData("");
      else if (text.charCodeAt(start + 4) === colon) addData(fieldValue(text, start + 5, end));
    } else if (text.startsWith("event", start)) {
      if (end === start + 5) event = "";
      else if (text.charCodeAt(start + 5) === colon) event = fieldValue(text, start + 6, end);
    }
  };

  const addData = (value: string): void => {
    if (data === undefined) data = value;
    else {
      data += `\n${value}`;
      if (data.length > charsMax) throw pendingTooLong(charsMax);
    }
  };

  /** Keeps the start of a line whose end has not come. */
  const keep = (text: string): void => {
    pending += text;
    if (pending.length > charsMax) throw pendingTooLong(charsMax);
  };

  /** Ends the pending line at `end`; gives where the next one starts. */
  const endPending = (text: string, start: number, end: number): void => {
    if (pending === "") takeLine(text, start, end);
    else {
      const line = pending + text.slice(start, end);
      pending = "";
      takeLine(line, 0, line.length);
    }
  };

  const feedLineFeeds = (text: string, from: number): void => {
    let start = from;
    for (let end = text.indexOf("\n", start); end !== -1; end = text.indexOf("\n", start)) {
      endPending(text, start, end);
      start = end + 1;
    }
    if (start < text.length) keep(start === 0 ? text : text.slice(start));
  };

  /** The same where CR may end a line, too. Each of the two searches runs over the text once. */
  const feedMixed = (text: string, from: number): void => {
    let start = from;
    let nextFeed = text.indexOf("\n", start);
    let nextReturn = text.indexOf("\r", start);
    while (nextFeed !== -1 || nextReturn !== -1) {
      const atReturn = nextFeed === -1 || (nextReturn !== -1 && nextReturn < nextFeed);
      const end = atReturn ? nextReturn : nextFeed;
      endPending(text, start, end);
      start = end + 1;
      if (atReturn && start === nextFeed) start++;
      else if (atReturn && start === text.length) skipLineFeed = true;
      if (nextFeed !== -1 && nextFeed < start) nextFeed = text.indexOf("\n", start);
      if (nextReturn !== -1 && nextReturn < start) nextReturn = text.indexOf("\r", start);
    }
    if (start < text.length) keep(text.slice(start));
  };

  return {
    feed: (text) => {
      if (text === "") return none;
      const from = skipLineFeed && text.charCodeAt(0) === lineFeed ? 1 : 0;
      skipLineFeed = false;
      if (text.includes("\r")) feedMixed(text, from);
      else feedLineFeeds(text, from);
      if (out.length === 0) return none;
      const events = out;
      out = [];
      return events;
    },
    finish: () => none,
  };
}

const none: readonly SseEvent[] = [];

/** The value of a field, without the one space that may follow the colon. */
function fieldValue(text: string, start: number, end: number): string {
  return text.slice(start < end && text.charCodeAt(start) === space ? start + 1 : start, end);
}
