/** What happens to the bytes of one direction. */
export interface FlowToxics {
  /** Every piece comes so much later; the order stays. */
  readonly latencyMs?: number;
  /** And by a random part of this on top. */
  readonly jitterMs?: number;
  readonly bytesPerSecond?: number;
  /** The largest piece handed on at once. With `bytesPerSecond: 1` and 1 here: a trickle. */
  readonly pieceBytes?: number;
  /** The connection ends after so many bytes of this direction, in the middle of whatever it is. */
  readonly cutAfterBytes?: number;
  /** Nothing comes through and nothing is refused, as on a link that is down. What was sent arrives when this ends. */
  readonly isHeld?: boolean;
  /** The chance of a piece to have one of its bytes changed. */
  readonly garbleChance?: number;
}

/** What is wrong with a line. */
export interface Toxics {
  readonly toServer?: FlowToxics;
  readonly toClient?: FlowToxics;
  /** The chance of a piece from the server to be dropped and its connection cut: the request was executed, its reply is lost. */
  readonly swallowChance?: number;
  /** How connections that are cut end: properly (`end`, the default) or with a reset. */
  readonly cutBy?: "end" | "reset";
  /** New connections are cut at once. */
  readonly isRefusing?: boolean;
}
