import type { BodyReader, ReadConsumer, ReaderOptions } from "./body-reader.ts";
import { mapNdjson } from "./ndjson.ts";
import { mapSse, type SseEvent } from "./sse.ts";

/** How a vendor separates the events of a streamed answer. */
export interface Framing<Read> {
  /** Whether a body of this content type is framed so; `undefined` where the type does not show it. */
  readonly isFramed: (contentType: string) => boolean | undefined;
  /** Decodes the events of each read of the socket. */
  readonly map: <Item>(body: ReadableStream<Uint8Array>, consumer: ReadConsumer<Read, Item>, options?: ReaderOptions) => BodyReader<Item>;
}

/** Server-sent events. A gateway may answer a streamed call in one piece of JSON, and an unstreamed one with a stream: the content type decides. */
export const sse: Framing<SseEvent> = {
  isFramed: (type) => (type.includes("event-stream") ? true : type.includes("json") ? false : undefined),
  map: mapSse,
};

/** One JSON value per line. An answer in one piece is one line: the request decides. */
export const ndjson: Framing<string> = { isFramed: () => undefined, map: mapNdjson };
