import type { Fact, FactDraft } from "../loop/fact.ts";
import type { SessionRef } from "../message/session-ref.ts";

export type { SessionRef } from "../message/session-ref.ts";

/** Limits of one append. The driver stays below them: it moves large values to the blob store first. */
export const appendLimits: { readonly facts: number; readonly factBytes: number; readonly batchBytes: number } = {
  facts: 256,
  factBytes: 256 * 1024,
  batchBytes: 1024 * 1024,
};

export interface AppendRequest {
  /** Optimistic concurrency: the seq of the last fact that the writer has read; 0 for an empty log. The new facts get the next numbers. */
  readonly expectedSeq: number;
  /** The fencing token of the writer's claim. Absent for commands that any node may append (input, abort, answers, decisions). */
  readonly epoch?: number;
  /**
   * Idempotency key, any text: made once per intent, sent again with every retry. It belongs to the session, and the store remembers it as long as the log
   * exists. The id of a batch that was refused is not used up.
   */
  readonly batchId: string;
  /**
   * 1 to 256 facts, written all or not at all; INPUT_INVALID over a limit of `appendLimits`, in bytes of UTF-8. They may carry the numbers that follow from
   * `expectedSeq`; a store need not copy such facts. A wrong `seq` is ignored; every other field is the writer's and is kept, also of unknown types: any
   * text and JSON value, 64 levels deep, a key `__proto__`. Half of a surrogate pair may become U+FFFD.
   */
  readonly facts: readonly FactDraft[];
  /** Releases the lease of `epoch` in the same atomic step. Ignored without an epoch, and when nothing is written. */
  readonly release?: boolean;
  /**
   * When the session needs an owner after this batch: milliseconds since the epoch; 0: at once; `null`: not before the next append.
   * Unchanged when absent, and when nothing is written. A new log needs no owner.
   */
  readonly due?: number | null;
}

/**
 * - `ok`: written, durable as the store promises. `lastSeq` is the seq of the last fact of the batch.
 * - `dup`: this batch id was written before, with these facts or others; `lastSeq` is that of the first write, and nothing more is written.
 * - `conflict`: `expectedSeq` is not the tail; nothing was written.
 * - `fenced`: a newer epoch exists; nothing was written.
 * - `closed`: the session is closed (its last fact is `session.closed`) or was removed.
 * - `full`: the store has no space; nothing was written, and the same batch may be written later.
 * - `unknown`: the store did not answer in time, so the batch may have been written. Retry with the same batch id, or read.
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

/** A session that needs an owner and has no running lease. */
export interface DueSession {
  readonly ref: SessionRef;
  /** The time since which it needs an owner, in milliseconds since the epoch; 0: at once. */
  readonly due: number;
}

export interface DueOptions {
  /** Sessions that are due at this time, in milliseconds since the epoch, are listed. */
  readonly now: number;
  /** Default 100. */
  readonly limit?: number;
  /** Cursor: the last session of the previous page. */
  readonly after?: DueSession;
}

export type ClaimOutcome =
  | { readonly type: "claimed"; readonly epoch: number; readonly lastSeq: number }
  | { readonly type: "held"; readonly node: string; readonly remainingMs: number };

/** A lease to renew. */
export interface LeaseRenewal {
  readonly ref: SessionRef;
  readonly epoch: number;
  readonly leaseMs: number;
}

/**
 * The source of truth: one append-only list of facts per session, numbered 1, 2, 3, ... without gaps, and the lease of its owner.
 * `append` checks, in this order and atomically with the write: fenced, dup, closed, conflict. Of several appends at once after the same fact exactly one is
 * written, whichever processes they come from; sessions do not disturb one another. What was acknowledged survives closing and reopening the store.
 * A log with a damaged or altered fact is SESSION_CORRUPT to its readers, never a log with a gap. Once that is known the log is read-only, for every process
 * and after a restart, and other sessions are read, written and listed as before.
 * Every method rejects only with AgentError STORE_UNAVAILABLE, STORE_READ_ONLY, STORE_CORRUPT,
 * STORE_TOO_NEW, STORE_ROLLED_BACK, STORE_FULL (never from `append`), SESSION_CORRUPT, HISTORY_LOST (the log is shorter than
 * what was read from it before), CONFIG_INVALID or INPUT_INVALID.
 */
export interface SessionLog {
  append(ref: SessionRef, request: AppendRequest): Promise<AppendOutcome>;
  /**
   * Returns the facts from `from` (default 1) on, ascending, at most `limit` (default: all; 0: none). An unknown session has none. A reader sees each batch
   * whole or not at all; what was read stays the same for ever.
   */
  read(ref: SessionRef, options?: { readonly from?: number; readonly limit?: number }): Promise<readonly Fact[]>;
  /** The end of the log and its owner. Asking does not create the session. */
  head(ref: SessionRef): Promise<LogHead>;
  /**
   * Makes `node` the owner under a new epoch (the last one + 1), unless another node holds a running lease; of several claims at once one succeeds. The same
   * node may claim again. Epochs rise for ever, across restarts. A refused claim changes nothing. The store's clock decides when a lease is over.
   */
  claim(ref: SessionRef, claim: { readonly node: string; readonly leaseMs: number }): Promise<ClaimOutcome>;
  /**
   * Lets the lease run for `leaseMs` from now. False when the epoch is no longer the newest or was released: the owner must stop. An expired lease may be
   * renewed as long as no other node has claimed.
   */
  renew(ref: SessionRef, lease: { readonly epoch: number; readonly leaseMs: number }): Promise<boolean>;
  /**
   * Renews many leases in one command. Returns what `renew` returns for each, in the same order; sessions are independent of one another.
   * Rejects if one of the results is unknown. Absent: the caller renews each lease with `renew`.
   */
  renewAll?(renewals: readonly LeaseRenewal[]): Promise<readonly boolean[]>;
  /** Ends the lease: the session can be claimed at once, under the next epoch. Idempotent; does nothing when another epoch holds it. */
  release(ref: SessionRef, epoch: number): Promise<void>;
  /**
   * Lists sessions of all scopes that are due and have no running lease, ordered by due time, scope and session, in a time that does not grow with the
   * sessions under a lease. A page begins behind `after`, also when that session is no longer due. It may list sessions without work, and never omits one for
   * long: a session that a crash kept out of the list is in it after the store was opened again.
   */
  due(options: DueOptions): Promise<readonly DueSession[]>;
  /** Changes the due time of a session whose log ends at `expectedSeq`. Does nothing when it ends elsewhere, or was never written to. */
  setDue(ref: SessionRef, options: { readonly expectedSeq: number; readonly due: number | null }): Promise<void>;
  /**
   * Deletes a session permanently: its log and lease, its snapshots, its index entries, and the blobs that no other session or scope owns.
   * Resolves when none of it can be read. What a crash leaves behind is deleted by the next call of `due` at the latest. The id is never
   * reused: a later append returns `closed`, no claim revives it, its lease cannot be renewed, and the store keeps no snapshot or blob under it. Idempotent.
   */
  remove(ref: SessionRef): Promise<void>;
  /**
   * Notifies the listener soon after each append of any process, with the seq of the last fact, and with 0 after a removal. A notification may be
   * repeated; the facts that it names can be read. One function may subscribe twice, and leave while it is called. Absent: readers poll.
   */
  subscribe?(ref: SessionRef, listener: (lastSeq: number) => void): () => void;
}
