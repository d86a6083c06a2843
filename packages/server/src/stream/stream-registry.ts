import type { Principal } from "../server-options.ts";
import type { EventSink } from "./event-sink.ts";

/** What a stream may be kept open by. */
export interface StreamRight {
  /** When the credentials of its reader end. */
  readonly expiresAt?: number | undefined;
  /** When the credentials end by now. Rejects when the reader may not read the stream any more. */
  checkAgain(): Promise<Pick<StreamRight, "expiresAt">>;
}

/** A slot for one event stream. It counts towards the limits until it is released. */
export interface StreamPlace {
  /** Assigns the opened stream to the slot: it gets pings, is ended at its maximum age and with the right of its reader, and releases the slot when it closes. */
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
  /** Ends every stream, and each one that is still being opened as soon as it is assigned. The clients reconnect. */
  close(): void;
}
