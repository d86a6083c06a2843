import type { BlobStore } from "./blob-store.ts";
import type { SessionIndex } from "./session-index.ts";
import type { SessionLog } from "./session-log.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

/** The storage ports of a runtime, from one adapter. */
export interface SessionStore {
  readonly log: SessionLog;
  readonly index: SessionIndex;
  readonly blobs: BlobStore;
  readonly snapshots: SnapshotStore;
  /**
   * Health check of the storage itself: it accepts writes and keeps them durably, is still the storage that was opened, and was not restored to an
   * older state. Call it every few seconds. Absent: the results of the other methods are the only health information.
   * @throws AgentError with the cause: CONFIG_INVALID for storage that may lose acknowledged writes, otherwise STORE_*
   */
  probe?(): Promise<void>;
  /**
   * Accepts storage that was restored to an older state (STORE_ROLLED_BACK): all work since that state is forgotten and may be repeated, so a
   * person must decide this. False when the storage was not restored.
   */
  acceptRestored?(): Promise<boolean>;
  /** Waits for operations in progress, then closes files and connections. Idempotent. */
  close(): Promise<void>;
}
