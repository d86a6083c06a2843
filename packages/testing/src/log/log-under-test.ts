import type { SessionRef } from "@loopwright/core";
import type { SessionLog } from "@loopwright/core/ports";

/**
 * What an attacker that can write to the store, and knows its seals, does to one record of a log: `changed`: another title stands in it, sealed anew;
 * `missing`: it is taken out; `inserted`: a copy of the record before stands in its place, and it and all later ones have moved on by one, as they were.
 */
export type Tampering = "changed" | "missing" | "inserted";

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
  /** Does this to the record of a fact, behind the store's back. What it is done to was written as batches of one fact. Capability `tamper`. */
  readonly tamper?: (ref: SessionRef, seq: number, way: Tampering) => Promise<void>;
  /**
   * Keeps a copy of all that is stored and gives what puts it back under the processes that use it, as a restore from a backup does. Capability
   * `rollback`; `gaps` means that an owner's append notices that the facts before it are gone, `marks` that a process notices by the store as a whole, also where it has seen nothing of a session.
   */
  readonly rollBack?: () => Promise<() => Promise<void>>;
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
