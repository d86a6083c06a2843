import type { ModelChunk } from "@loopwright/core";

/** Turns the events of one answer into chunks. Pure: it gets events in order and waits for nothing. */
export interface ChunkDecoder<Event> {
  /** True once the vendor's terminal event has come; later events are ignored. Always false for a vendor without one: the end of the body is the end. */
  readonly ended: boolean;
  /** Adds the chunks of one event, without the closing `end`. @throws AgentError for an error that the vendor sent; SyntaxError for what is not JSON. */
  take(event: Event, out: ModelChunk[]): void;
  /** Adds the chunks of an answer in one piece, as parsed JSON, without the closing `end`. @throws AgentError as `take`; MODEL_PROTOCOL for JSON that is no answer. */
  takeWhole(answer: unknown, out: ModelChunk[]): void;
  /**
   * Adds what closes the answer, `end` last. Called once: when `ended` has become true, after `takeWhole`, or at the end of the body.
   * @throws AgentError MODEL_STREAM_BROKEN when the vendor's terminal event has not come.
   */
  finish(out: ModelChunk[]): void;
}
