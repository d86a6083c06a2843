import { isAgentError, type SessionRef } from "@loopwright/core";
import type { SessionHit, SessionIndex, SessionLog } from "@loopwright/core/ports";

/** A fresh index and the log it belongs to. Capabilities `search`, and `beginnings`: a search finds words by their beginnings. */
export interface IndexUnderTest {
  readonly index: SessionIndex;
  readonly log: SessionLog;
  /** Closes the store and opens it again. Capability `reopen`. */
  readonly reopen?: () => Promise<SessionIndex>;
  /**
   * What the store has done until now: rows, keys, requests or commands, whatever grows with what it looks at. The store has to look at no more than
   * 20 sessions, or texts of sessions, for one search. Capability `work`.
   */
  readonly work?: () => Promise<number>;
  /** Makes what is kept of a session unreadable as a whole, behind the store's back, as in `LogUnderTest`. Capability `ruin`. */
  readonly ruin?: (ref: SessionRef) => Promise<void>;
}

/** The hits; `undefined` from an index that refuses every search as it may. */
export async function searched(index: SessionIndex, query: string): Promise<readonly SessionHit[] | undefined> {
  try {
    return await index.search("local", query);
  } catch (error) {
    if (isAgentError(error, "SEARCH_UNSUPPORTED")) return undefined;
    throw error;
  }
}
