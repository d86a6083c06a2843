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
  readonly retryMs: number;
  readonly retryMaxMs: number;
} = {
  /** Of one lane, in two halves: of a longer one at least the last half is kept. */
  ringBytes: 2 * 1024 * 1024,
  /** How long a ring outlives its last event. */
  ringMs: 10 * 60_000,
  /** Lanes whose ring a node goes on writing; of the one written longest ago it would begin anew. */
  lanes: 10_000,
  /** Scopes of which a node knows what it said last; of others losses in between are not noticed. */
  scopes: 10_000,
  /** Nodes of which a listener knows, per scope, what it heard last. */
  nodes: 1_000,
  /** Sessions of one scope that a frame names as incomplete; of more it says "any". */
  missedSessions: 256,
  /** How long a topic that nobody listens to any more is still heard. */
  lingerMs: 10_000,
  /** While nothing can be heard, listeners are asked this often to look for themselves. */
  gapEveryMs: 1_000,
  /** How often the listening connection is tried. */
  heartbeatMs: 1_000,
  /** Pause before the second try to connect; it doubles, with jitter. */
  retryMs: 50,
  retryMaxMs: 1_000,
};
