import type { Clock } from "../../ports/clock.ts";
import type { SessionIndex } from "../../ports/session-index.ts";
import type { SessionLog, SessionRef } from "../../ports/session-log.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import { systemClock } from "../clock.ts";
import { type MemoryBlobs, memoryBlobs } from "./memory-blobs.ts";
import { memoryDrafts } from "./memory-drafts.ts";
import { memoryIndex } from "./memory-index.ts";
import { memoryLog } from "./memory-log.ts";
import { MemorySessions } from "./memory-sessions.ts";

export interface MemoryStoreOptions {
  /** Decides when a lease is over. Default: the process's. */
  readonly clock?: Clock;
  /** How many sessions a search looks at: those changed last. Default 2,000. */
  readonly searchSessionsMax?: number;
}

const searchedSessionsMax = 2_000;

/** A store that lives as long as the process: for tests, trials and short-lived agents. Nothing is serialised. */
export function memoryStore(options?: MemoryStoreOptions): SessionStore {
  return countedMemoryStore(options).store;
}

/** The same, and how many sessions were looked at in it until now. */
export function countedMemoryStore(options?: MemoryStoreOptions): { readonly store: SessionStore; readonly work: () => number } {
  const clock = options?.clock ?? systemClock;
  const sessions = new MemorySessions(clock);
  return { store: storeOf(sessions, clock, options?.searchSessionsMax ?? searchedSessionsMax), work: () => sessions.looked };
}

function storeOf(sessions: MemorySessions, clock: Clock, searchSessionsMax: number): SessionStore {
  const isRemoved = (ref: SessionRef): boolean => sessions.find(ref)?.removed ?? false;
  const drafts = memoryDrafts(isRemoved);
  const blobs = memoryBlobs(isRemoved);
  return {
    log: memoryLog(sessions, clock, (ref) => {
      drafts.forget(ref);
      blobs.erase(ref);
    }),
    index: memoryIndex(sessions, searchSessionsMax),
    blobs,
    drafts,
    async close() {},
  };
}

/** The same for one session alone, which mostly needs a log and nothing else: the rest is made when it is asked for. */
export function privateStore(clock: Clock): SessionStore {
  return new PrivateStore(clock);
}

class PrivateStore implements SessionStore {
  readonly log: SessionLog;
  readonly #sessions: MemorySessions;
  #index: SessionIndex | undefined;
  #blobs: MemoryBlobs | undefined;
  #drafts: ReturnType<typeof memoryDrafts> | undefined;

  constructor(clock: Clock) {
    this.#sessions = new MemorySessions(clock);
    this.log = memoryLog(this.#sessions, clock, (ref) => {
      this.#drafts?.forget(ref);
      this.#blobs?.erase(ref);
    });
  }

  get index(): SessionIndex {
    this.#index ??= memoryIndex(this.#sessions, searchedSessionsMax);
    return this.#index;
  }

  get blobs(): MemoryBlobs {
    this.#blobs ??= memoryBlobs((ref) => this.#isRemoved(ref));
    return this.#blobs;
  }

  get drafts(): ReturnType<typeof memoryDrafts> {
    this.#drafts ??= memoryDrafts((ref) => this.#isRemoved(ref));
    return this.#drafts;
  }

  async close(): Promise<void> {}

  #isRemoved(ref: SessionRef): boolean {
    return this.#sessions.find(ref)?.removed ?? false;
  }
}
