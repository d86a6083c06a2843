/** What a channel bounds, beside `outgoingBytes` and `deadlineMs` of its options. */
export const channelLimits: {
  readonly ringBytes: number;
  readonly ringMs: number;
  readonly lanes: number;
  readonly scopes: number;
  readonly nodes: number;
  readonly missedSessions: number;
  readonly lingerMs: number;
  readonly gapEveryMs: number;
  readonly heartbeatMs: number;
  readonly connectGraceMs: number;
  readonly retryMs: number;
  readonly retryMaxMs: number;
} = {
  /** Of one lane, in two halves: of a longer one at least the last half is kept. */
  ringBytes: 2 * 1024 * 1024,
  /** How long a ring outlives its last event. */
  ringMs: 10 * 60_000,
  /** Most lanes whose rings a node writes at once; over that, the ring written longest ago begins anew. */
  lanes: 10_000,
  /** Most scopes for which a node keeps the id of its last frame; for others a loss in between goes unnoticed. */
  scopes: 10_000,
  /** Most nodes per scope for which a listener keeps the id of the last frame received. */
  nodes: 1_000,
  /** Most sessions of one scope that a frame names as incomplete; for more it names none and means any. */
  missedSessions: 256,
  /** How long a topic stays subscribed after its last listener has left. */
  lingerMs: 10_000,
  /** While there is no connection, listeners are called this often to read the log themselves. */
  gapEveryMs: 1_000,
  /** How often the listening connection is tried. */
  heartbeatMs: 1_000,
  /** By how much the library waits longer for a connection than `deadlineMs`: its timer counts time in which the process was blocked. */
  connectGraceMs: 5_000,
  /** Pause before the second try to connect; it doubles, with jitter. */
  retryMs: 50,
  retryMaxMs: 1_000,
};
