/** One record of a stream: what a session did, in numbers. Never a prompt, an answer or a secret. */
export interface TelemetryEvent {
  /** Unique in its stream: a record that comes again is stored once. */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The scope that it belongs to. */
  readonly scope: string;
  /** Plain JSON. */
  readonly data: object;
}

export interface EventQuery {
  /** Records from this time on, in milliseconds since the epoch. Default: all. */
  readonly from?: number;
  /** Records of this scope alone. Default: of all scopes. */
  readonly scope?: string;
  /** At most this many, the newest of them. Default 100,000. */
  readonly limit?: number;
}

/** Streams of records, bounded: what is too old or too much is dropped, the oldest first. */
export interface EventStore {
  /** Adds records. It may be written a moment later; what a crash loses is a moment of telemetry. Never throws. */
  append(stream: string, events: readonly TelemetryEvent[]): void;
  /** Everything that was appended before, in the order of `at`. @throws AgentError STORE_UNAVAILABLE when the records cannot be read */
  read(stream: string, query?: EventQuery): Promise<readonly TelemetryEvent[]>;
}

/** What a stream holds at most. */
export interface EventBounds {
  /** Default 7 days. */
  readonly keepMs?: number;
  /** Records of one stream. Default 100,000. */
  readonly eventsMax?: number;
}

export const eventBounds: Required<EventBounds> = { keepMs: 7 * 86_400_000, eventsMax: 100_000 };
