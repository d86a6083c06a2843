/** The limits of a queue over BullMQ, beside `deadlineMs` of its options. */
export const queueLimits: {
  readonly mergeMs: number;
  readonly idleSeconds: number;
  readonly connectGraceMs: number;
  readonly retryMs: number;
  readonly reconnectMaxMs: number;
  readonly heartbeatMs: number;
  readonly eventsKept: number;
  readonly turnMax: number;
  readonly turnsKeptMs: number;
  readonly scopesMax: number;
} = {
  /** How long a waiting hint absorbs further hints for its session. Bounded, because the waiting hint may be lost. */
  mergeMs: 60_000,
  /** How long a worker waits for a hint in one request. It is also the longest time until a dead connection is noticed. */
  idleSeconds: 2,
  /** By how much the library waits longer than `deadlineMs` for a connection: its timer counts time in which the process was blocked. */
  connectGraceMs: 5_000,
  /** Pause of a worker after an error of Redis. */
  retryMs: 500,
  reconnectMaxMs: 1_000,
  /** The interval between attempts to connect. */
  heartbeatMs: 1_000,
  /** BullMQ records the events of jobs; nothing here reads them. */
  eventsKept: 100,
  /** BullMQ's highest priority. A backlog that does not become empty for so many hints of one scope is delivered in the order of the offers from there on. */
  turnMax: 2_097_151,
  /** How long the turns of the scopes are kept after the last offer. */
  turnsKeptMs: 3_600_000,
  /** Scopes whose last turn is kept; beyond that all are forgotten, and each scope starts again at the head of the queue. */
  scopesMax: 10_000,
};
