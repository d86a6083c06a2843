import type { ModelChunk } from "@loopwright/core";

/** Turns the events of one answer into chunks. */
export interface WireReader {
  /** True after the vendor's own last event: what may still come is read and dropped. */
  readonly done: boolean;
  /** Takes one event. @throws AgentError for an error inside the stream and for what is no JSON. */
  take(event: string, data: string, out: ModelChunk[]): void;
  /** Takes a whole answer that was not streamed. @throws AgentError as `take`. */
  takeWhole(body: unknown, out: ModelChunk[]): void;
  /** Adds what closes the answer, `end` last. @throws AgentError MODEL_STREAM_BROKEN when the vendor's own end has not come. */
  finish(out: ModelChunk[]): void;
}

/** What a reader needs to know of its call. */
export interface ReaderContext {
  /** The server's name for people. */
  readonly provider: string;
  readonly secrets: readonly string[];
}

/** The pieces of a custom tool's free text as pieces of JSON arguments `{"input": text}`. A character cut in two stays whole: each half is escaped. */
export const customInput: { readonly open: string; piece(text: string): string; readonly close: string } = {
  open: '{"input":"',
  piece: (text: string): string => JSON.stringify(text).slice(1, -1),
  close: '"}',
};
