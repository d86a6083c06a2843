import type { SessionStore } from "@loopwright/core/ports";
import { sealedBlobs } from "./sealed-blobs.ts";
import { sealedIndex } from "./sealed-index.ts";
import { sealedLog } from "./sealed-log.ts";
import { sealedSnapshots } from "./sealed-snapshots.ts";
import type { SessionKeys } from "./session-keys.ts";

export interface SealedStoreOptions {
  /** The keys of its sessions. They stay open when the store is closed. */
  readonly keys: SessionKeys;
}

/**
 * A store that encrypts what another one keeps: facts, titles, metadata, participants, snapshots, drafts and blobs, with a key for each session. Erasing a
 * session erases its key as well, so that copies of the store in backups cannot be read either.
 *
 * The store below sees: ids, types and times of facts, states, counts, usage, sizes, names and media types of blobs, and for searches a keyed hash of each word of a
 * message, so that equal words of a scope have equal hashes. A search finds whole words. Sessions from before stay as they were.
 */
export function sealedStore(store: SessionStore, { keys }: SealedStoreOptions): SessionStore {
  const { probe, acceptRestored } = store;
  const log = sealedLog(store, keys);
  return {
    log,
    index: sealedIndex(store.index, log, keys),
    blobs: sealedBlobs(store.blobs, keys),
    snapshots: sealedSnapshots(store.snapshots, keys),
    ...(probe ? { probe: () => probe.call(store) } : {}),
    ...(acceptRestored ? { acceptRestored: () => acceptRestored.call(store) } : {}),
    close: () => store.close(),
  };
}
