import type { Principal } from "../server-options.ts";
import type { EventSink } from "./event-sink.ts";

/** A place for one stream. */
export interface StreamPlace {
  /** From now on the stream is kept awake, ends when it is old, and gives its place back when it is over. */
  hold(sink: EventSink): void;
  /** Gives the place back, where no sink was opened. Twice is once. */
  release(): void;
}

/** The open event streams of this process: counted, kept awake, ended when they are old. */
export interface StreamRegistry {
  readonly open: number;
  /** Bytes that wait for the slowest reader. */
  readonly longestQueueBytes: number;
  /** @throws AgentError CONNECTION_LIMIT, NOT_READY once closed */
  take(principal: Principal): StreamPlace;
  /** Ends all, and at once those that are still being opened; their readers come back. */
  close(): void;
}
