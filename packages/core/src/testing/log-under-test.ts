import type { SessionLog } from "../ports/session-log.ts";

/** A fresh, empty log. */
export interface LogUnderTest {
  readonly log: SessionLog;
  /** Closes the store and opens it again, as a restart would. Capability `reopen`. */
  readonly reopen?: () => Promise<SessionLog>;
  /** Moves the store's own clock forward. Capability `time`. */
  readonly advance?: (ms: number) => void;
  /** How long subscribers may take. Default 2 s. */
  readonly patienceMs?: number;
}
