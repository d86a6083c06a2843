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
  /** Waits for what is under way, then lets go of files and connections. Twice is once. */
  close(): Promise<void>;
}
