import type { Blob, BlobStore } from "../../ports/blob-store.ts";
import type { SessionRef } from "../../ports/session-log.ts";

const listMax = 1_000;
/** The owner of values that belong to the scope: no session has this id. */
const ofScope = "";

/** Blobs in memory, with the removal of those of a session. */
export interface MemoryBlobs extends BlobStore {
  /** Erases what only the session owns. */
  erase(ref: SessionRef): void;
}

/** Blobs in this process; bytes are copied on the way in and out. Nothing is kept for a session that was removed. */
export function memoryBlobs(isRemoved: (ref: SessionRef) => boolean): MemoryBlobs {
  /** Scope -> key -> owner -> value. */
  const scopes = new Map<string, Map<string, Map<string, Blob>>>();
  const ownersOf = (scope: string, key: string): Map<string, Blob> | undefined => scopes.get(scope)?.get(key);

  function keep(scope: string, key: string, owned: { readonly owner: string; readonly blob: Blob }): void {
    const keys = scopes.get(scope) ?? new Map<string, Map<string, Blob>>();
    const owners = keys.get(key) ?? new Map<string, Blob>();
    scopes.set(scope, keys.set(key, owners.set(owned.owner, owned.blob)));
  }

  return {
    async put(scope, key, { bytes, mediaType, ifAbsent, session }) {
      if (session !== undefined && isRemoved({ scope, session })) return false;
      const owner = session ?? ofScope;
      if (ifAbsent && ownersOf(scope, key)?.has(owner)) return false;
      keep(scope, key, { owner, blob: { bytes: new Uint8Array(bytes), ...(mediaType === undefined ? {} : { mediaType }) } });
      return true;
    },
    async get(scope, key, options) {
      const owners = ownersOf(scope, key);
      const [any] = owners?.values() ?? [];
      const blob = owners?.get(options?.session ?? ofScope) ?? owners?.get(ofScope) ?? any;
      return blob && { ...blob, bytes: blob.bytes.slice() };
    },
    async own(scope, key, session) {
      const owners = ownersOf(scope, key);
      const [blob] = owners?.values() ?? [];
      if (!blob || isRemoved({ scope, session })) return false;
      if (!owners?.has(session)) keep(scope, key, { owner: session, blob: owners?.get(ofScope) ?? blob });
      owners?.delete(ofScope);
      return true;
    },
    async remove(scope, key, options) {
      if (options?.ifUnused && [...(ownersOf(scope, key)?.keys() ?? [])].some((owner) => owner !== ofScope)) return false;
      return scopes.get(scope)?.delete(key) ?? false;
    },
    async list(scope, options) {
      const { prefix = "", after, limit = listMax } = options ?? {};
      return [...(scopes.get(scope)?.keys() ?? [])]
        .filter((key) => key.startsWith(prefix) && (after === undefined || key > after))
        .sort()
        .slice(0, limit);
    },
    erase({ scope, session }) {
      const keys = scopes.get(scope);
      for (const [key, owners] of keys ?? []) {
        owners.delete(session);
        if (owners.size === 0) keys?.delete(key);
      }
    },
  };
}
