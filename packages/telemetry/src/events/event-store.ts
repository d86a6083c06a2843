import { AgentError } from "@loopwright/core";

/** One record of a stream: what a session did, in numbers. Never a prompt, an answer or a secret. */
export interface TelemetryEvent {
  /** Unique in its stream: a record that comes again is stored once. */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The scope that it belongs to. */
  readonly scope: string;
  /** The session of the scope that it belongs to, for queries by `session`. */
  readonly session?: string;
  /** Plain JSON. */
  readonly data: object;
}

/** A record that was read. */
export interface StoredEvent extends TelemetryEvent {
  /** For `before` of the next page. */
  readonly cursor: string;
}

export interface EventQuery {
  /** Records from this time on, in milliseconds since the epoch. Default: all. */
  readonly from?: number;
  /** Records of this scope alone. Default: of all scopes. */
  readonly scope?: string;
  /** Records of this session of `scope` alone: at a cost that does not grow with the other records. */
  readonly session?: string;
  /** Records that come before this one: a `cursor`. Default: up to the newest. */
  readonly before?: string;
  /** At most this many, the newest of them. Default 100,000. */
  readonly limit?: number;
}

/** Streams of records, bounded: what is too old or too much is dropped, the oldest first. */
export interface EventStore {
  /** Adds records. It may be written a moment later; what a crash loses is a moment of telemetry. Never throws. */
  append(stream: string, events: readonly TelemetryEvent[]): void;
  /** Everything that was appended before, in the order of `at`. @throws AgentError STORE_UNAVAILABLE when the records cannot be read, INPUT_INVALID */
  read(stream: string, query?: EventQuery): Promise<readonly StoredEvent[]>;
}

/** What a stream holds at most. */
export interface EventBounds {
  /** Default 7 days. */
  readonly keepMs?: number;
  /** Records of one stream. Default 100,000. */
  readonly eventsMax?: number;
}

export const eventBounds: Required<EventBounds> = { keepMs: 7 * 86_400_000, eventsMax: 100_000 };

/** The place of a record: its time, and a count of records. */
interface EventPlace {
  readonly at: number;
  readonly place: number;
}

export const eventCursor = ({ at, place }: EventPlace): string => `${at}.${place}`;

/** @throws AgentError INPUT_INVALID for a text that no record had as its cursor */
export function placeOf(cursor: string): EventPlace {
  const [, at, place] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? [];
  if (at !== undefined && place !== undefined) return { at: Number(at), place: Number(place) };
  throw new AgentError("INPUT_INVALID", { message: "`before` is no cursor.", fix: "Use the one of the last page, or leave it out." });
}
