import { defaultHostLimits, type HostLimits } from "@loopwright/host";

/** The limits of what a server takes and sends. */
export interface HttpLimits {
  readonly bodyBytes: number;
  readonly fileBytes: number;
  /** Files that `options.attachments` of one input may name. */
  readonly attachmentsPerInput: number;
  /** How long the body of a request may take to arrive. */
  readonly bodyMs: number;
  readonly fileMs: number;
  /** Bytes of a file that must arrive in each `bodyMs`. */
  readonly filePaceBytes: number;
  /** How long `authenticate` may take for a request, and `authorize` for an action. */
  readonly authenticateMs: number;
  /** Bytes of files on their way to one principal, and to all. A file is in memory until it was received, or cut after `streamStallMs` without progress. */
  readonly sentFileBytesPerPrincipal: number;
  readonly sentFileBytes: number;
  /** Requests of one principal in a minute; those that change something count in `writesPerMinute` too. */
  readonly requestsPerMinute: number;
  readonly writesPerMinute: number;
  /** The same for all principals of a scope together. A value below the limit of one principal counts as that limit. */
  readonly requestsPerScope: number;
  readonly writesPerScope: number;
  readonly streamsPerPrincipal: number;
  readonly streamsPerScope: number;
  readonly streams: number;
  /** Open runs of one principal. */
  readonly runsPerPrincipal: number;
  /** Bytes that may be queued for one stream. A full queue takes nothing more until it is empty. */
  readonly streamQueueBytes: number;
  /** The most events, and about the most bytes, in one page of the events of a session or run. */
  readonly pageEvents: number;
  readonly pageBytes: number;
  /** A stream whose queue is not empty once in this time is cut. */
  readonly streamStallMs: number;
  readonly pingMs: number;
  /** A stream is ended after this time, give or take a fifth; its reader connects again. */
  readonly streamAgeMs: number;
  /** How often the reader of an open stream is authenticated and authorized again. */
  readonly streamCheckMs: number;
  /** How long a ticket is valid, and how long a stream that was opened with a ticket lasts. */
  readonly ticketMs: number;
  readonly ticketStreamMs: number;
  /** Durable events of one session that are kept in memory for readers that reconnect soon. */
  readonly recentEvents: number;
  /** How long a request may wait for the store before it is refused with 503. The default ends the whole request within two seconds. */
  readonly answerMs: number;
  /** How long a request that names a `minSeq` waits until this node has seen it. */
  readonly minSeqMs: number;
  /** A reader whose next event is older than this does not get the events that it missed: it begins again with a snapshot. */
  readonly replayMaxAgeMs: number;
  /** How long at least an `Idempotency-Key` counts that the log does not record. Keys of messages are in the log, and count for ever. */
  readonly keyMaxAgeMs: number;
  /** Sessions that one notifications stream may follow in full. */
  readonly sessionsPerNotifications: number;
  /** Bytes of one notification of `notify` as JSON. */
  readonly notificationBytes: number;
  /** Client tools that may come with a session, and about their bytes as JSON. */
  readonly declaredTools: number;
  readonly declaredToolBytes: number;
}

/** The limits of a server that makes its own host. */
export type ServerLimits = HttpLimits & HostLimits;

export const defaultHttpLimits: HttpLimits = {
  bodyBytes: 1024 * 1024,
  fileBytes: 10 * 1024 * 1024,
  attachmentsPerInput: 20,
  bodyMs: 10_000,
  fileMs: 60_000,
  filePaceBytes: 16 * 1024,
  authenticateMs: 5_000,
  sentFileBytesPerPrincipal: 32 * 1024 * 1024,
  sentFileBytes: 256 * 1024 * 1024,
  requestsPerMinute: 600,
  writesPerMinute: 120,
  requestsPerScope: 6_000,
  writesPerScope: 1_200,
  streamsPerPrincipal: 50,
  streamsPerScope: 500,
  streams: 5_000,
  runsPerPrincipal: 20,
  streamQueueBytes: 1024 * 1024,
  pageEvents: 1_000,
  pageBytes: 512 * 1024,
  streamStallMs: 30_000,
  pingMs: 15_000,
  streamAgeMs: 900_000,
  streamCheckMs: 60_000,
  ticketMs: 30_000,
  ticketStreamMs: 300_000,
  recentEvents: 1_024,
  answerMs: 1_800,
  minSeqMs: 1_000,
  replayMaxAgeMs: 30 * 86_400_000,
  keyMaxAgeMs: 30 * 86_400_000,
  sessionsPerNotifications: 20,
  notificationBytes: 64 * 1024,
  declaredTools: 32,
  declaredToolBytes: 64 * 1024,
};

export const defaultServerLimits: ServerLimits = { ...defaultHostLimits, ...defaultHttpLimits };
