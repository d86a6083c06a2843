import type { Access } from "@loopwright/core";

/** Whose facts they are: a user within a scope (a tenant). Facts of another user or another scope are never seen. */
export type MemoryOwner = Pick<Access, "user" | "scope">;

/** One thing to remember. */
export interface Memory {
  /** Unique for its owner. */
  readonly id: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The session that it was stored in. */
  readonly sessionId: string;
}

/** The port of the memory tools: facts that outlive a session. `memoryStoreKit` of `@loopwright/tools-memory/testing` holds its promises. */
export interface MemoryStore {
  /** Keeps a fact. With an id that the owner has already nothing changes. @throws AgentError STORE_FULL beyond `memoryLimits.perOwnerMax` */
  put(owner: MemoryOwner, memory: Memory): Promise<void>;
  /** The owner's facts that hold a word of the query, or a longer one that begins with it: first those that hold more of them, then the newer. */
  search(owner: MemoryOwner, query: string, countMax: number): Promise<readonly Memory[]>;
  /** The newest facts of the owner, for a page of settings. */
  list(owner: MemoryOwner, countMax: number): Promise<readonly Memory[]>;
  /** Whether there was such a fact of the owner. */
  delete(owner: MemoryOwner, id: string): Promise<boolean>;
  /** Deletes all facts of the owner and gives their count. */
  clear(owner: MemoryOwner): Promise<number>;
}

export const memoryLimits: {
  readonly perOwnerMax: number;
  readonly textMax: number;
  readonly countMax: number;
  readonly queryWordsMax: number;
} = {
  /** Facts of one owner. */
  perOwnerMax: 1_000,
  /** Characters of a fact. */
  textMax: 2_000,
  /** Facts that one search gives. */
  countMax: 20,
  /** Words of a query that count. */
  queryWordsMax: 32,
};
