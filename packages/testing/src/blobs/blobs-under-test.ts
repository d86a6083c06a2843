import type { BlobStore, SessionLog } from "@loopwright/core/ports";

/** A fresh, empty blob store. */
export interface BlobsUnderTest {
  readonly blobs: BlobStore;
  /** Closes the store and opens it again. Capability `reopen`. */
  readonly reopen?: () => Promise<BlobStore>;
  /** The log of the same store. Capability `log`: removing a session erases the blobs that it alone owns. */
  readonly log?: SessionLog;
}
