import { defaultHostLimits, type HostLimits } from "@loopwright/host";

/** Every limit of what a server takes and sends, with its default. */
export interface HttpLimits {
  readonly bodyBytes: number;
  readonly fileBytes: number;
  /** How long the body of a request may take to come. */
  readonly bodyMs: number;
  readonly fileMs: number;
  /** Bytes of a file that must come in each `bodyMs`. */
  readonly filePaceBytes: number;
  /** How long `authenticate` may take for a request, and `authorize` for an action. */
  readonly authenticateMs: number;
  /** Bytes of files that may be on their way to one principal, and to all: each is held whole until it was taken, for `streamStallMs` without a piece. */
  readonly sentFileBytesPerPrincipal: number;
  readonly sentFileBytes: number;
  /** Requests of one principal in a minute; those that change something count in `writesPerMinute` too. */
  readonly requestsPerMinute: number;
  readonly writesPerMinute: number;
  /** The same for all principals of a scope together. A scope is never refused what one principal of it may have. */
  readonly requestsPerScope: number;
  readonly writesPerScope: number;
  readonly streamsPerPrincipal: number;
  readonly streamsPerScope: number;
  readonly streams: number;
  /** Open runs of one principal. */
  readonly runsPerPrincipal: number;
  /** Bytes that may be queued for one stream; over it nothing more is queued until it has run empty. */
  readonly streamQueueBytes: number;
  /** What one page of recorded events may hold, of a session or of a run: so many, and about so many bytes. */
  readonly pageEvents: number;
  readonly pageBytes: number;
  /** A stream whose queue does not run empty for so long is cut. */
  readonly streamStallMs: number;
  readonly pingMs: number;
  /** A stream is ended after this, give or take a fifth; its reader comes back. */
  readonly streamAgeMs: number;
  /** How often the reader of an open stream is authenticated and authorized again. */
  readonly streamCheckMs: number;
  /** How long a ticket counts, and how long a stream lasts that was opened with one. */
  readonly ticketMs: number;
  readonly ticketStreamMs: number;
  /** Durable events of one session that are kept in memory for readers that reconnect soon. */
  readonly recentEvents: number;
  /** How long a request may wait for the store before it is answered with 503: with what is around it within two seconds. */
  readonly answerMs: number;
  /** How long a request that names a `minSeq` waits until this node has seen it. */
  readonly minSeqMs: number;
  /** A reader whose next event is older than this is not caught up any more: it begins anew with a snapshot. */
  readonly replayMaxAgeMs: number;
  /** For how long at least an `Idempotency-Key` counts that the log has no place for: those of messages count for ever. */
  readonly keyMaxAgeMs: number;
  /** Sessions that one notifications stream may follow in full. */
  readonly sessionsPerNotifications: number;
  /** Bytes of one notification of `notify` as JSON. */
  readonly notificationBytes: number;
  /** Client tools that may come with a session, and the bytes of their schemas. */
  readonly declaredTools: number;
  readonly declaredToolBytes: number;
}

/** Every limit of a server that makes its own host. */
export type ServerLimits = HttpLimits & HostLimits;

export const defaultHttpLimits: HttpLimits = {
  bodyBytes: 1024 * 1024,
  fileBytes: 10 * 1024 * 1024,
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
