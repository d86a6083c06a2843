/** What a queue over BullMQ bounds, beside `deadlineMs` of its options. */
export const queueLimits: {
  readonly mergeMs: number;
  readonly idleSeconds: number;
  readonly retryMs: number;
  readonly reconnectMaxMs: number;
  readonly heartbeatMs: number;
  readonly eventsKept: number;
} = {
  /** How long hints for a session that waits are one. Not for ever: what waits may be lost. */
  mergeMs: 60_000,
  /** How long a worker without hints waits for one in one go; longer than that a dead connection is not noticed. */
  idleSeconds: 2,
  /** Pause before a worker asks a Redis again that has failed. */
  retryMs: 500,
  reconnectMaxMs: 1_000,
  /** How often the connection is tried. */
  heartbeatMs: 1_000,
  /** BullMQ records the events of jobs; nothing here reads them. */
  eventsKept: 100,
};
