import type { Clock } from "../../ports/clock.ts";
import type { SessionRef } from "../../ports/session-log.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import { systemClock } from "../system-clock.ts";
import { memoryBlobs } from "./memory-blobs.ts";
import { memoryIndex } from "./memory-index.ts";
import { memoryLog } from "./memory-log.ts";
import { MemorySessions } from "./memory-sessions.ts";
import { memorySnapshots } from "./memory-snapshots.ts";

export interface MemoryStoreOptions {
  /** Decides when a lease is over. Default: the clock of the process. */
  readonly clock?: Clock;
  /** How many sessions a search looks at: those changed last. Default 2,000. */
  readonly searchSessionsMax?: number;
}

const searchedSessionsMax = 2_000;

/** A store that lives as long as the process: for tests, trials and short-lived agents. Nothing is serialised. */
export function memoryStore(options?: MemoryStoreOptions): SessionStore {
  return countedMemoryStore(options).store;
}

/** A `memoryStore` that counts the sessions that it reads. */
export function countedMemoryStore(options?: MemoryStoreOptions): { readonly store: SessionStore; readonly work: () => number } {
  const clock = options?.clock ?? systemClock;
  const sessions = new MemorySessions(clock);
  return { store: storeOf(sessions, clock, options?.searchSessionsMax ?? searchedSessionsMax), work: () => sessions.looked };
}

function storeOf(sessions: MemorySessions, clock: Clock, searchSessionsMax: number): SessionStore {
  const isRemoved = (ref: SessionRef): boolean => sessions.find(ref)?.removed ?? false;
  const snapshots = memorySnapshots(isRemoved);
  const blobs = memoryBlobs(isRemoved);
  return {
    log: memoryLog(sessions, clock, (ref) => {
      snapshots.forget(ref);
      blobs.erase(ref);
    }),
    index: memoryIndex(sessions, searchSessionsMax),
    blobs,
    snapshots,
    async close() {},
  };
}
