import type { Fact, FactDraft } from "../../loop/fact.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { AppendOutcome, AppendRequest, ClaimOutcome, LogHead, SessionLog } from "../../ports/session-log.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { memoryBlobs } from "./memory-blobs.ts";

/** The parts of a store that one session uses. Lists, searches, sweeps and removals are for stores of many sessions. */
export interface SessionStorage extends Pick<SessionStore, "blobs" | "snapshots"> {
  readonly log: Omit<SessionLog, "due" | "setDue" | "remove">;
}

/** A store in memory for one session that no other handle can reach: no index, no listeners, and a lease that no other process can claim. */
export function privateStore(): SessionStorage {
  return new PrivateStore();
}

class PrivateStore implements SessionStorage {
  readonly log: PrivateLog = new PrivateLog();
  readonly snapshots: SnapshotStore = noSnapshots;
  #blobs: BlobStore | undefined;

  get blobs(): BlobStore {
    this.#blobs ??= memoryBlobs(() => false);
    return this.#blobs;
  }
}

/** Facts are kept by reference, never copied or serialised. */
class PrivateLog implements Omit<SessionLog, "due" | "setDue" | "remove"> {
  readonly #facts: Fact[] = [];
  #epoch = 0;

  async append(_: unknown, { facts, expectedSeq, epoch }: AppendRequest): Promise<AppendOutcome> {
    const own = this.#facts;
    if (epoch !== undefined && epoch !== this.#epoch) return { type: "fenced", currentEpoch: this.#epoch };
    if (own.at(-1)?.type === "session.closed") return { type: "closed" };
    if (expectedSeq !== own.length) return { type: "conflict", actualSeq: own.length };
    for (const draft of facts) own.push(isNumbered(draft, own.length + 1) ? draft : { ...draft, seq: own.length + 1 });
    return { type: "ok", lastSeq: own.length };
  }

  async read(_: unknown, { from = 1, limit }: Parameters<SessionLog["read"]>[1] = {}): Promise<readonly Fact[]> {
    return this.#facts.slice(from - 1, limit === undefined ? undefined : from - 1 + limit);
  }

  async head(): Promise<LogHead> {
    return { lastSeq: this.#facts.length, epoch: this.#epoch };
  }

  async claim(): Promise<ClaimOutcome> {
    return { type: "claimed", epoch: ++this.#epoch, lastSeq: this.#facts.length };
  }

  async renew(): Promise<boolean> {
    return true;
  }

  async release(): Promise<void> {}
}

function isNumbered(draft: FactDraft, seq: number): draft is Fact {
  return "seq" in draft && draft.seq === seq;
}

/** Snapshots would have no reader: the fold of the session is in this process. */
const noSnapshots: SnapshotStore = { put: async () => {}, get: async () => undefined, remove: async () => {} };
