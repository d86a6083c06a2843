/** Every limit of a server, with its default. */
export interface ServerLimits {
  readonly bodyBytes: number;
  readonly fileBytes: number;
  /** How long the body of a request may take to come. */
  readonly bodyMs: number;
  readonly fileMs: number;
  /** Bytes of a file that must come in each `bodyMs`. */
  readonly filePaceBytes: number;
  /** Requests of one principal in a minute; those that change something count in `writesPerMinute` too. */
  readonly requestsPerMinute: number;
  readonly writesPerMinute: number;
  readonly streamsPerPrincipal: number;
  readonly streamsPerScope: number;
  readonly streams: number;
  /** Open runs of one principal. */
  readonly runsPerPrincipal: number;
  /** Bytes that may be queued for one stream; over it nothing more is queued until it has run empty. */
  readonly streamQueueBytes: number;
  /** A stream whose queue does not run empty for so long is cut. */
  readonly streamStallMs: number;
  readonly pingMs: number;
  /** A stream is ended after this, give or take a fifth; its reader comes back. */
  readonly streamAgeMs: number;
  /** Durable events of one session that are kept at hand for readers who come back soon. */
  readonly recentEvents: number;
  /** How long a session that nobody uses stays loaded, and how many may. */
  readonly sessionIdleMs: number;
  readonly sessionsLoaded: number;
  /** Sessions that one notifications stream may follow in full. */
  readonly sessionsPerNotifications: number;
  /** Client tools that may come with a session, and the bytes of their schemas. */
  readonly declaredTools: number;
  readonly declaredToolBytes: number;
}

export const defaultServerLimits: ServerLimits = {
  bodyBytes: 1024 * 1024,
  fileBytes: 10 * 1024 * 1024,
  bodyMs: 10_000,
  fileMs: 60_000,
  filePaceBytes: 16 * 1024,
  requestsPerMinute: 600,
  writesPerMinute: 120,
  streamsPerPrincipal: 50,
  streamsPerScope: 500,
  streams: 5_000,
  runsPerPrincipal: 20,
  streamQueueBytes: 1024 * 1024,
  streamStallMs: 30_000,
  pingMs: 15_000,
  streamAgeMs: 900_000,
  recentEvents: 1_024,
  sessionIdleMs: 60_000,
  sessionsLoaded: 1_000,
  sessionsPerNotifications: 20,
  declaredTools: 32,
  declaredToolBytes: 64 * 1024,
};
