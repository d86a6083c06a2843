import { resolve } from "node:path";
import { AgentError, type Backend, refuseUnknownOptions } from "@loopwright/core";
import type { BlobStore, Clock, SessionIndex, SessionStore, SnapshotStore } from "@loopwright/core/ports";
import { unlessAborted } from "@loopwright/core/stores";
import type { SqliteReport, WorkerOptions } from "./operation.ts";
import { answerOf, sqliteLog } from "./sqlite-log.ts";
import { storeWorkerOf, WorkerCalls } from "./thread/worker-calls.ts";

export interface SqliteStoreOptions {
  /** The file; made with its folder at the first write. `:memory:` keeps everything in this process. */
  readonly path: string;
  /** How long a write waits for other processes. Default 5,000 ms. */
  readonly busyTimeoutMs?: number;
  /** The largest the file may become; then appends answer `full`. Default: the disk's end. */
  readonly sizeMaxBytes?: number;
  /** Compares leases. All processes on a file need the same; default: the machine's time since its start. */
  readonly clock?: Pick<Clock, "monotonic">;
}

const knownOptions: { readonly [Name in keyof SqliteStoreOptions]-?: true } = {
  path: true,
  busyTimeoutMs: true,
  sizeMaxBytes: true,
  clock: true,
};

/** A store in one SQLite file. */
export interface SqliteStore extends SessionStore {
  /** Looks through the whole file: for `doctor`, not for every day. A session that was damaged and is whole again may be written again. */
  check(): Promise<SqliteReport>;
}

/** One file as the backend of a runtime. @example createRuntime({ agents, ...sqliteBackend("chats.db") }) */
export function sqliteBackend(pathOrOptions: string | SqliteStoreOptions): Backend & { readonly store: SqliteStore } {
  const store = sqliteStore(pathOrOptions);
  return { store, close: () => store.close() };
}

const pageMax = 100;
/** Texts that a search looks at: the newest of those that hold its rarest word. */
const searchedTextsMax = 1_000;
const blobListMax = 1_000;

/**
 * Session log, index with full-text search, blobs and snapshots in one SQLite file that several processes may use at once.
 * Nothing is opened before the first use; an idle store does not keep the process alive. What was acknowledged is on the disk.
 * @throws AgentError CONFIG_INVALID for an option that does not exist, and without a path.
 * Methods reject with AgentError STORE_UNAVAILABLE, STORE_READ_ONLY, STORE_CORRUPT, STORE_TOO_NEW, STORE_FULL or SESSION_CORRUPT.
 */
export function sqliteStore(pathOrOptions: string | SqliteStoreOptions): SqliteStore {
  const options = typeof pathOrOptions === "object" && pathOrOptions !== null ? pathOrOptions : { path: pathOrOptions };
  refuseUnknownOptions(options, knownOptions, "`sqliteStore`");
  if (typeof options.path !== "string" || options.path === "")
    throw new AgentError("CONFIG_INVALID", {
      message: "The SQLite store has no `path`.",
      fix: 'Name a file, as in `sqliteStore("sessions.db")` or `sqliteStore({ path: "sessions.db" })`.',
    });
  const workerOptions: WorkerOptions = {
    path: options.path === ":memory:" ? options.path : resolve(options.path),
    busyTimeoutMs: options.busyTimeoutMs ?? 5_000,
    sizeMaxBytes: options.sizeMaxBytes,
  };
  const calls = new WorkerCalls(storeWorkerOf(workerOptions));
  const { clock } = options;
  const { watch, ...log } = sqliteLog(calls, () => clock?.monotonic());
  let closing: Promise<void> | undefined;
  return {
    log,
    index: sqliteIndex(calls),
    blobs: sqliteBlobs(calls),
    snapshots: sqliteSnapshots(calls),
    check: async () => answerOf(calls, "check", {}),
    close() {
      watch.stop();
      closing ??= calls.end();
      return closing;
    },
  };
}

function sqliteIndex(calls: WorkerCalls): SessionIndex {
  return {
    list: async (scope, { limit = pageMax, before, parent, signal } = {}) =>
      unlessAborted(signal, () => answerOf(calls, "list", { scope, limit, before: placeOf(before), parent })),
    get: async (scope, id) => answerOf(calls, "get", { scope, id }),
    search: async (scope, query, { limit = pageMax, signal, onUnsearched } = {}) =>
      calls.together(async (own) => {
        // In steps, so that what others write gets its turn between two.
        for (let hasMore = true; hasMore; ) hasMore = await unlessAborted(signal, () => answerOf(own, "indexWords", { scope }));
        const { hits, isPart } = await unlessAborted(signal, () =>
          answerOf(own, "search", { scope, query, limit, textsMax: searchedTextsMax }),
        );
        if (isPart) onUnsearched?.();
        return hits;
      }),
    rebuild: async (scope) => answerOf(calls, "rebuild", { scope }),
  };
}

/** Only the place: callers pass whole summaries. */
function placeOf(before: { readonly updatedAt: number; readonly id: string } | undefined): typeof before {
  return before && { updatedAt: before.updatedAt, id: before.id };
}

function sqliteBlobs(calls: WorkerCalls): BlobStore {
  return {
    async put(scope, key, { bytes, mediaType, ifAbsent = false, session }) {
      // A copy in memory of its own, which then moves to the worker. The `slice` of a Buffer would share the memory.
      const own = new Uint8Array(bytes);
      return answerOf(calls, "putBlob", { scope, key, bytes: own, mediaType, ifAbsent, session });
    },
    get: async (scope, key, options) => answerOf(calls, "getBlob", { scope, key, session: options?.session }),
    own: async (scope, key, session) => answerOf(calls, "ownBlob", { scope, key, session }),
    remove: async (scope, key, options) => answerOf(calls, "removeBlob", { scope, key, ifUnused: options?.ifUnused ?? false }),
    async list(scope, options) {
      const { prefix = "", after, limit = blobListMax } = options ?? {};
      return answerOf(calls, "listBlobs", { scope, prefix, after, limit });
    },
  };
}

function sqliteSnapshots(calls: WorkerCalls): SnapshotStore {
  return {
    async put(ref, name, value) {
      await answerOf(calls, "putSnapshot", { ref, name, text: JSON.stringify(value) });
    },
    async get(ref, name) {
      const text = await answerOf(calls, "getSnapshot", { ref, name });
      return text === undefined ? undefined : JSON.parse(text);
    },
    async remove(ref, name) {
      await answerOf(calls, "removeSnapshot", { ref, name });
    },
  };
}
