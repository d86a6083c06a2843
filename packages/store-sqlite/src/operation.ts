import type { ErrorCode } from "@loopwright/core";
import type {
  AppendOutcome,
  ClaimOutcome,
  DueOptions,
  DueSession,
  LogHead,
  SessionHit,
  SessionRef,
  SessionSummary,
} from "@loopwright/core/ports";

/** An append as it crosses to the worker: facts are serialised once, here they are text. */
export interface AppendAsk {
  readonly ref: SessionRef;
  readonly expectedSeq: number;
  readonly epoch: number | undefined;
  readonly batchId: string;
  /** One JSON text per fact, its number included. */
  readonly bodies: readonly string[];
  /** `at` of the last fact. */
  readonly at: number;
  /** Whether the last fact closes the session. */
  readonly closes: boolean;
  readonly release: boolean;
  /** The session whose run starts this one, where these facts are its first. */
  readonly parent: string | undefined;
  /** Absent: as before. */
  readonly due: number | null | undefined;
}

/** A piece of a log: a JSON array of facts. */
export interface LogPage {
  readonly text: string;
  readonly count: number;
  /** Whether there may be more behind it. */
  readonly more: boolean;
}

/** What `check` finds. */
export interface SqliteReport {
  readonly path: string;
  /** Version of the file's tables. */
  readonly version: number;
  readonly sizeBytes: number;
  readonly sessionCount: number;
  readonly factCount: number;
  readonly blobCount: number;
  /** The engine's findings about the file; empty when it is sound. */
  readonly problems: readonly string[];
  /** Sessions whose log is damaged, as `scope/session`. */
  readonly damaged: readonly string[];
}

type Place = Pick<SessionSummary, "updatedAt" | "id">;
type Asked<Ask, Answer> = { readonly ask: Ask; readonly answer: Answer };
type OfRef<More = unknown> = { readonly ref: SessionRef } & More;
type OfKey<More = unknown> = { readonly scope: string; readonly key: string } & More;

/** What can be asked of the worker. `now`: milliseconds of the store's own clock, where it was given one. */
export interface Operations {
  append: Asked<AppendAsk, AppendOutcome>;
  read: Asked<OfRef<{ readonly from: number; readonly limit: number }>, LogPage>;
  head: Asked<OfRef<{ readonly now: number | undefined }>, LogHead>;
  /** The last seqs of these sessions; unless `always`, nothing when no other process has written since the last question. */
  tails: Asked<{ readonly refs: readonly SessionRef[]; readonly always: boolean }, readonly (number | undefined)[] | undefined>;
  claim: Asked<OfRef<{ readonly node: string; readonly leaseMs: number; readonly now: number | undefined }>, ClaimOutcome>;
  renew: Asked<OfRef<{ readonly epoch: number; readonly leaseMs: number; readonly now: number | undefined }>, boolean>;
  release: Asked<OfRef<{ readonly epoch: number }>, undefined>;
  due: Asked<DueOptions & { readonly limit: number; readonly machineNow: number | undefined }, readonly DueSession[]>;
  setDue: Asked<OfRef<{ readonly expectedSeq: number; readonly due: number | null }>, undefined>;
  remove: Asked<OfRef, undefined>;
  list: Asked<
    { readonly scope: string; readonly limit: number; readonly before: Place | undefined; readonly parent: string | undefined },
    readonly SessionSummary[]
  >;
  get: Asked<{ readonly scope: string; readonly id: string }, SessionSummary | undefined>;
  /** `isPart`: there may be more hits. */
  search: Asked<
    { readonly scope: string; readonly query: string; readonly limit: number; readonly textsMax: number },
    { readonly hits: readonly SessionHit[]; readonly isPart: boolean }
  >;
  /** Puts some more texts of a scope into the index of words. True: there are more. */
  indexWords: Asked<{ readonly scope: string }, boolean>;
  rebuild: Asked<{ readonly scope: string }, number>;
  putBlob: Asked<
    OfKey<{
      readonly bytes: Uint8Array;
      readonly mediaType: string | undefined;
      readonly ifAbsent: boolean;
      readonly session: string | undefined;
    }>,
    boolean
  >;
  ownBlob: Asked<OfKey<{ readonly session: string }>, boolean>;
  getBlob: Asked<OfKey<{ readonly session: string | undefined }>, { readonly bytes: Uint8Array; readonly mediaType?: string } | undefined>;
  removeBlob: Asked<OfKey<{ readonly ifUnused: boolean }>, boolean>;
  listBlobs: Asked<
    { readonly scope: string; readonly prefix: string; readonly after: string | undefined; readonly limit: number },
    readonly string[]
  >;
  putSnapshot: Asked<OfRef<{ readonly name: string; readonly text: string }>, undefined>;
  getSnapshot: Asked<OfRef<{ readonly name: string }>, string | undefined>;
  removeSnapshot: Asked<OfRef<{ readonly name: string }>, undefined>;
  /** The reader has found facts that the engine took for sound. */
  condemn: Asked<OfRef<{ readonly message: string }>, undefined>;
  check: Asked<Record<never, never>, SqliteReport>;
  close: Asked<Record<never, never>, undefined>;
}

export type OperationName = keyof Operations;
export type Ask<Name extends OperationName> = Operations[Name]["ask"];
export type Answer<Name extends OperationName> = Operations[Name]["answer"];

/** One question, for any operation. */
export type Call = { readonly [Name in OperationName]: { readonly name: Name; readonly ask: Ask<Name> } }[OperationName];

/** An error as it crosses between the threads. */
export interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix?: string;
}

/** What became of one call. `uncertain`: it may have been written or not. */
export type Result = { readonly answer: Answer<OperationName> } | { readonly fault: Fault; readonly uncertain?: boolean };

/** Calls that travel together, in order. */
export interface Batch {
  readonly calls: readonly Call[];
}

/** What the worker gets: first the file that it holds from now on, then batches of calls on it. */
export type WorkerMessage = { readonly open: WorkerOptions } | Batch;

/** What the worker needs to know of its file. */
export interface WorkerOptions {
  readonly path: string;
  readonly busyTimeoutMs: number;
  readonly sizeMaxBytes: number | undefined;
}
