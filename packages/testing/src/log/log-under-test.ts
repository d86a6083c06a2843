import type { SessionRef } from "@loopwright/core";
import type { SessionLog } from "@loopwright/core/ports";

/** A fresh, empty log, and what a test can do to it. What it cannot do is named among `lacks`, by its capability. */
export interface LogUnderTest {
  readonly log: SessionLog;
  /** Closes the store and opens it again, as a restart would. Capability `reopen`. */
  readonly reopen?: () => Promise<SessionLog>;
  /** Opens one more log on the same place, as another process would; the first stays open. Capability `another`. */
  readonly another?: () => Promise<SessionLog>;
  /** Moves the store's own clock forward. Capability `time`. */
  readonly advance?: (ms: number) => void;
  /** Changes one byte of a fact where it is kept, behind the store's back. Capability `corrupt`. */
  readonly damage?: (ref: SessionRef, seq: number) => Promise<void>;
  /**
   * Makes what is kept of a session unreadable as a whole, behind the store's back: a file in place of its folder, a key of another type, a row of
   * nonsense. Capability `ruin`.
   */
  readonly ruin?: (ref: SessionRef) => Promise<void>;
  /** Takes all space, so that a batch of 1 MiB finds none; gives what makes room again. Capability `full`. */
  readonly fill?: () => Promise<() => Promise<void>>;
  /** Loses the answer to the next append, which is written all the same. Capability `unknown`. */
  readonly loseAnswer?: () => void;
  /** What the store has done until now: rows, keys, requests or commands, whatever grows with what it looks at. Capability `work`. */
  readonly work?: () => Promise<number>;
  /** How long subscribers may take. Default 2 s. */
  readonly patienceMs?: number;
}
