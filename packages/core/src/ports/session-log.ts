import type { Fact, FactDraft } from "../loop/fact.ts";

/** Which session of which tenant. Both `[a-z0-9][a-z0-9_-]{0,63}`. */
export interface SessionRef {
  readonly scope: string;
  readonly session: string;
}

/** Limits of one append; the driver keeps to them by moving large values to the blob store first. */
export const appendLimits: { readonly facts: number; readonly factBytes: number; readonly batchBytes: number } = {
  facts: 256,
  factBytes: 256 * 1024,
  batchBytes: 1024 * 1024,
};

export interface AppendRequest {
  /** The seq of the last fact the writer has seen; 0 for an empty log. The facts get the next numbers. */
  readonly expectedSeq: number;
  /** The writer's claim; absent for commands that any node may append (input, abort, answers, decisions). */
  readonly epoch?: number;
  /** Made once per intent and used again for every retry of it. Remembered as long as the log. */
  readonly batchId: string;
  /** 1 to 256 facts, all or nothing. They may be numbered already, as `expectedSeq` says: a store need not copy them then. */
  readonly facts: readonly FactDraft[];
  /** Gives the lease of `epoch` back in the same atomic step. */
  readonly release?: boolean;
  /**
   * When the session needs an owner once this batch is in: milliseconds since the epoch, 0: at once, `null`: not before somebody appends again.
   * Absent: as before. A new log needs none.
   */
  readonly due?: number | null;
}

/**
 * - `ok`: written, durable as the store promises. `lastSeq` is the seq of the last fact of the batch.
 * - `dup`: this batch id was written before; `lastSeq` as then.
 * - `conflict`: `expectedSeq` is not the tail; nothing was written.
 * - `fenced`: a newer epoch exists; nothing was written.
 * - `closed`: the session is closed (its last fact is `session.closed`).
 * - `full`: the store has no space; nothing was written.
 * - `unknown`: the answer did not come in time. Only the same batch id again, or a read, may follow.
 */
export type AppendOutcome =
  | { readonly type: "ok" | "dup"; readonly lastSeq: number }
  | { readonly type: "conflict"; readonly actualSeq: number }
  | { readonly type: "fenced"; readonly currentEpoch: number }
  | { readonly type: "closed" }
  | { readonly type: "full" }
  | { readonly type: "unknown" };

export interface LogHead {
  /** 0 for a log without facts. */
  readonly lastSeq: number;
  /** 0 before the first claim. */
  readonly epoch: number;
  /** Present while a lease runs, by the store's own clock. */
  readonly lease?: { readonly node: string; readonly remainingMs: number };
}

/** A session that needs an owner and has none. */
export interface DueSession {
  readonly ref: SessionRef;
  /** Since when, milliseconds since the epoch; 0 when it was at once. */
  readonly due: number;
}

export interface DueOptions {
  /** The moment asked about, milliseconds since the epoch. */
  readonly now: number;
  /** Default 100. */
  readonly limit?: number;
  /** Pages on from the last one of the page before. */
  readonly after?: DueSession;
}

export type ClaimOutcome =
  | { readonly type: "claimed"; readonly epoch: number; readonly lastSeq: number }
  | { readonly type: "held"; readonly node: string; readonly remainingMs: number };

/** One lease that is to be renewed. */
export interface LeaseRenewal {
  readonly ref: SessionRef;
  readonly epoch: number;
  readonly leaseMs: number;
}

/**
 * The truth: one append-only list of facts per session, numbered 1, 2, 3, ... without gap, and the lease of its owner.
 * Checks of `append`, in this order, atomic with the write: fenced, dup, closed, conflict.
 * Every method rejects only with AgentError STORE_UNAVAILABLE, STORE_READ_ONLY, STORE_CORRUPT,
 * STORE_TOO_NEW, STORE_ROLLED_BACK, STORE_FULL (never from `append`), SESSION_CORRUPT, HISTORY_LOST (the log ends before facts that were read
 * from it), CONFIG_INVALID or INPUT_INVALID.
 */
export interface SessionLog {
  append(ref: SessionRef, request: AppendRequest): Promise<AppendOutcome>;
  /** Facts from `from` (default 1) on, ascending, at most `limit` (default: all). An unknown session has none. */
  read(ref: SessionRef, options?: { readonly from?: number; readonly limit?: number }): Promise<readonly Fact[]>;
  head(ref: SessionRef): Promise<LogHead>;
  /** Makes `node` the owner under a new epoch (the last one + 1), unless another's lease runs. The same node may claim again. */
  claim(ref: SessionRef, claim: { readonly node: string; readonly leaseMs: number }): Promise<ClaimOutcome>;
  /** False when the epoch is no longer the newest or was released: the owner must stop. */
  renew(ref: SessionRef, lease: { readonly epoch: number; readonly leaseMs: number }): Promise<boolean>;
  /**
   * Renews many leases in one command: what `renew` would answer to each, in their order. Leases of different sessions do not touch one another.
   * Rejects when it cannot answer to all. Absent: each is renewed by itself.
   */
  renewAll?(renewals: readonly LeaseRenewal[]): Promise<readonly boolean[]>;
  /** Gives the lease back; nothing happens when it is another's by now. */
  release(ref: SessionRef, epoch: number): Promise<void>;
  /**
   * Sessions of all scopes whose date has come and that no running lease holds, by date, then scope, then session. May hold some that owe
   * nothing by now, and never misses one for long: what a crash kept from this list is in it after the store's own start.
   */
  due(options: DueOptions): Promise<readonly DueSession[]>;
  /** Corrects the date of a session whose log still ends at `expectedSeq`; otherwise nothing happens. */
  setDue(ref: SessionRef, options: { readonly expectedSeq: number; readonly due: number | null }): Promise<void>;
  /**
   * Deletes for good all that the store has of a session: its log and lease, its drafts, its entries in the index, and the blobs that it alone
   * owns. Resolves when nothing of it can be read any more. What a crash leaves behind goes when the log is asked for `due` sessions, at the
   * latest. The id is never used again: a later append answers `closed`, and no draft or blob is kept under it.
   */
  remove(ref: SessionRef): Promise<void>;
  /**
   * Calls the listener soon after an append by anyone, with the seq of the tail, and with 0 after a removal. It may be told the same again.
   * Absent: readers poll.
   */
  subscribe?(ref: SessionRef, listener: (lastSeq: number) => void): () => void;
}
