import { systemClock } from "@loopwright/core/memory";
import type { Clock, SessionStore } from "@loopwright/core/ports";
import { acmeBlobs } from "./blobs.ts";
import { openDatabase } from "./database.ts";
import { acmeLog } from "./log.ts";
import { schema } from "./schema.ts";
import { acmeIndex } from "./session-index.ts";
import { acmeSnapshots } from "./snapshots.ts";

export interface AcmeStoreOptions {
  /** The file. Its folder exists. */
  readonly path: string;
  /** Decides when a lease is over. Default: the process's. */
  readonly clock?: Clock;
}

/** A store in one file, for any number of processes of one machine. @throws what the driver throws for a file that cannot be opened. */
export function acmeStore({ path, clock = systemClock }: AcmeStoreOptions): SessionStore {
  const database = openDatabase(path, schema);
  return {
    log: acmeLog(database, clock),
    index: acmeIndex(database),
    blobs: acmeBlobs(database),
    snapshots: acmeSnapshots(database),
    close: async () => database.close(),
  };
}
