import type { Principal } from "../server-options.ts";
import type { EventSink } from "./event-sink.ts";

/** The right of a reader to keep a stream open. */
export interface StreamRight {
  /** When the credentials of its reader end. */
  readonly expiresAt?: number | undefined;
  /** Checks the right again, and returns the new end of the credentials. Rejects when the reader may no longer read the stream. */
  checkAgain(): Promise<Pick<StreamRight, "expiresAt">>;
}

/** A slot for one event stream. It counts towards the limits until it is released. */
export interface StreamPlace {
  /** Assigns the opened stream to the slot. The stream gets pings, and ends at its maximum age or with the right of its reader; then the slot is released. */
  hold(sink: EventSink, right?: StreamRight): void;
  /** Releases the slot if no sink was opened. Idempotent. */
  release(): void;
}

/** The open event streams of this process: counted, kept alive with pings, ended at their maximum age. */
export interface StreamRegistry {
  readonly open: number;
  /** Bytes queued for the slowest reader. */
  readonly longestQueueBytes: number;
  /** @throws AgentError CONNECTION_LIMIT, NOT_READY once closed */
  take(principal: Principal): StreamPlace;
  /** Ends every stream, and a stream that is still being opened as soon as it is assigned. The clients reconnect. */
  close(): void;
}
