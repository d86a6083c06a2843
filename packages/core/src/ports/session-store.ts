import type { BlobStore } from "./blob-store.ts";
import type { DraftStore } from "./draft-store.ts";
import type { SessionIndex } from "./session-index.ts";
import type { SessionLog } from "./session-log.ts";

/** Everything a runtime keeps, as one adapter hands it out. */
export interface SessionStore {
  readonly log: SessionLog;
  readonly index: SessionIndex;
  readonly blobs: BlobStore;
  readonly drafts: DraftStore;
  /**
   * Looks whether the place itself is fit to hold sessions: it keeps what it is told, takes writes, is the one that was opened, and has not gone
   * back to an older state. To be called every few seconds. Absent: the answers of the ports say all there is to know.
   * @throws AgentError that says what is wrong: CONFIG_INVALID for a place that may lose what it acknowledges, else STORE_*
   */
  probe?(): Promise<void>;
  /**
   * Takes a place that went back to an older state (STORE_ROLLED_BACK) as it is: what was done since that state is forgotten, and may be done
   * again. For a person to decide. False when it had not gone back.
   */
  acceptRestored?(): Promise<boolean>;
  /** Waits for what is under way, then lets go of files and connections. Twice is once. */
  close(): Promise<void>;
}
