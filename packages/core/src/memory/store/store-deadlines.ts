import { AgentError } from "../../errors.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { IndexQuery, SessionIndex } from "../../ports/session-index.ts";
import type { SessionLog } from "../../ports/session-log.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { startDeadline } from "../deadline.ts";
import { systemClock } from "../system-clock.ts";

export interface StoreDeadlineOptions {
  /** How long one operation may take, not counting time in which this process was blocked. Default 1,500 ms. Rebuilding an index has no deadline. */
  readonly deadlineMs?: number;
  /** Default: the clock of the process. */
  readonly clock?: Clock;
}

/** Resolves with the store's result, or at the deadline with that of `late`, if given. */
type Within = <T>(ask: () => Promise<T>, late?: () => T) => Promise<T>;

/**
 * Wraps the store with a deadline for each operation: then an append is `unknown`, and everything else rejects with STORE_UNAVAILABLE, although a write may
 * have been done. A later result is dropped. A store with its own deadlines does not need this.
 */
export function withStoreDeadlines<Store extends SessionStore>(store: Store, options?: StoreDeadlineOptions): Store {
  const within = deadlines(options?.deadlineMs ?? 1_500, options?.clock ?? systemClock);
  return {
    ...store,
    log: timedLog(store.log, within),
    index: timedIndex(store.index, within),
    blobs: timedBlobs(store.blobs, within),
    snapshots: timedSnapshots(store.snapshots, within),
    close: () => within(() => store.close()),
  };
}

function deadlines(deadlineMs: number, clock: Clock): Within {
  return (ask, late) =>
    new Promise((resolve, reject) => {
      const cancel = startDeadline(clock, { ms: deadlineMs }, () => {
        if (late) resolve(late());
        else reject(tooLate(deadlineMs));
      });
      const settling =
        <Value>(settle: (value: Value) => void) =>
        (value: Value): void => {
          cancel();
          settle(value);
        };
      ask().then(settling(resolve), settling(reject));
    });
}

const tooLate = (deadlineMs: number): AgentError =>
  new AgentError("STORE_UNAVAILABLE", { message: `The store did not answer within ${deadlineMs} ms.`, details: { deadlineMs } });

function timedLog(log: SessionLog, within: Within): SessionLog {
  return {
    append: (ref, request) =>
      within(
        () => log.append(ref, request),
        () => ({ type: "unknown" }),
      ),
    read: (ref, options) => within(() => log.read(ref, options)),
    head: (ref) => within(() => log.head(ref)),
    claim: (ref, claim) => within(() => log.claim(ref, claim)),
    renew: (ref, lease) => within(() => log.renew(ref, lease)),
    ...(log.renewAll ? { renewAll: (renewals) => within(() => log.renewAll?.(renewals) ?? Promise.resolve([])) } : {}),
    release: (ref, epoch) => within(() => log.release(ref, epoch)),
    due: (options) => within(() => log.due(options)),
    setDue: (ref, options) => within(() => log.setDue(ref, options)),
    remove: (ref) => within(() => log.remove(ref)),
    ...(log.subscribe ? { subscribe: log.subscribe.bind(log) } : {}),
  };
}

function timedIndex(index: SessionIndex, within: Within): SessionIndex {
  return {
    list: (scope, query) => givingUp(within, query, (own) => index.list(scope, own)),
    get: (scope, id) => within(() => index.get(scope, id)),
    search: (scope, text, query) => givingUp(within, query, (own) => index.search(scope, text, own)),
    rebuild: (scope) => index.rebuild(scope),
  };
}

/** Queries the index. At the deadline the query is aborted. */
async function givingUp<Query extends IndexQuery, Found>(
  within: Within,
  query: Query | undefined,
  ask: (query: Query | { readonly signal: AbortSignal }) => Promise<Found>,
): Promise<Found> {
  const late = new AbortController();
  const signal = query?.signal ? AbortSignal.any([query.signal, late.signal]) : late.signal;
  try {
    return await within(() => ask({ ...query, signal }));
  } catch (error) {
    late.abort(error);
    throw error;
  }
}

function timedBlobs(blobs: BlobStore, within: Within): BlobStore {
  return {
    put: (scope, key, blob) => within(() => blobs.put(scope, key, blob)),
    get: (scope, key, options) => within(() => blobs.get(scope, key, options)),
    own: (scope, key, session) => within(() => blobs.own(scope, key, session)),
    remove: (scope, key, options) => within(() => blobs.remove(scope, key, options)),
    list: (scope, options) => within(() => blobs.list(scope, options)),
  };
}

function timedSnapshots(snapshots: SnapshotStore, within: Within): SnapshotStore {
  return {
    put: (ref, name, value) => within(() => snapshots.put(ref, name, value)),
    get: (ref, name) => within(() => snapshots.get(ref, name)),
    remove: (ref, name) => within(() => snapshots.remove(ref, name)),
  };
}
