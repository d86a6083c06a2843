import { AgentError } from "@loopwright/core";

/** Most characters that one line or one event may have before its end has come: 64 Mi, ample for an image in base64. */
export const pendingCharsMax: number = 64 * 1024 * 1024;

/** The readers' options. */
export interface ReaderOptions {
  /** Most characters that one unfinished line or event may have. Default: `pendingCharsMax`. */
  readonly pendingCharsMax?: number;
}

/** A body as text, one string per read. Only the first read may be asked for at a time. */
export interface TextSource {
  /** The text of the next read, empty when only part of a character came; `undefined` at the end. */
  next(): Promise<string | undefined>;
  /** Cancels the body: what has not been read is not wanted. Never rejects. */
  cancel(): Promise<void>;
}

const more = { stream: true } as const;

/** Reads a body as UTF-8, each read decoded once: characters cut between two reads are joined, a byte order mark is dropped. */
export function createTextSource(body: ReadableStream<Uint8Array>): TextSource {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  return {
    next: async () => {
      const { done, value } = await reader.read();
      return done ? undefined : decoder.decode(value, more);
    },
    cancel: () => reader.cancel().catch(() => undefined),
  };
}

/** The error for a line or an event without an end. */
export function pendingTooLong(chars: number): AgentError {
  return new AgentError("MODEL_PROTOCOL", {
    message: `The answer holds a line or an event of more than ${chars} characters.`,
    retryable: false,
  });
}

/** An iterator of batches over a text source; `feed` gives what each piece of text completes, `finish` what the end does. */
export function batches<Item>(
  source: TextSource,
  parser: { feed(text: string): readonly Item[]; finish(): readonly Item[] },
): AsyncIterableIterator<readonly Item[]> {
  let ended = false;
  const next = async (): Promise<IteratorResult<readonly Item[], undefined>> => {
    try {
      while (!ended) {
        const text = await source.next();
        ended = text === undefined;
        const items = text === undefined ? parser.finish() : parser.feed(text);
        if (items.length > 0) return { done: false, value: items };
      }
    } catch (error) {
      if (!ended) void source.cancel();
      ended = true;
      throw error;
    }
    return { done: true, value: undefined };
  };
  const leave = async (): Promise<IteratorResult<readonly Item[], undefined>> => {
    if (!ended) await source.cancel();
    ended = true;
    return { done: true, value: undefined };
  };
  return { next, return: leave, [Symbol.asyncIterator]: returnThis };
}

function returnThis<T>(this: T): T {
  return this;
}
