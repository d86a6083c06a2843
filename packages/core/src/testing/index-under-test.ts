import type { SessionIndex } from "../ports/session-index.ts";
import type { SessionLog } from "../ports/session-log.ts";

/** A fresh index and the log it belongs to. */
export interface IndexUnderTest {
  readonly index: SessionIndex;
  readonly log: SessionLog;
  /** Closes the store and opens it again. Capability `reopen`. */
  readonly reopen?: () => Promise<SessionIndex>;
}
