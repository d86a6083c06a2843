import type { Clock } from "../ports/clock.ts";
import type { SessionRef } from "../ports/session-log.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { systemClock } from "./clock.ts";
import { memoryBlobs } from "./memory-blobs.ts";
import { memoryDrafts } from "./memory-drafts.ts";
import { memoryIndex } from "./memory-index.ts";
import { type MemorySessions, memoryLog } from "./memory-log.ts";

export interface MemoryStoreOptions {
  /** Decides when a lease is over. Default: the process's. */
  readonly clock?: Clock;
}

/** A store that lives as long as the process: for tests, trials and short-lived agents. Nothing is serialised. */
export function memoryStore(options?: MemoryStoreOptions): SessionStore {
  const sessions: MemorySessions = new Map();
  const log = memoryLog(sessions, options?.clock ?? systemClock);
  const isRemoved = ({ scope, session }: SessionRef): boolean => sessions.get(scope)?.get(session)?.removed ?? false;
  const drafts = memoryDrafts(isRemoved);
  const blobs = memoryBlobs(isRemoved);
  return {
    log: {
      ...log,
      async remove(ref) {
        await log.remove(ref);
        drafts.forget(ref);
        blobs.erase(ref);
      },
    },
    index: memoryIndex(sessions),
    blobs,
    drafts,
    async close() {},
  };
}
