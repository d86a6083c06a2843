import type { Blob, BlobStore } from "../ports/blob-store.ts";

const listMax = 1_000;

/** Blobs in this process; bytes are copied on the way in and out. */
export function memoryBlobs(): BlobStore {
  const scopes = new Map<string, Map<string, Blob>>();
  return {
    async put(scope, key, { bytes, mediaType, ifAbsent }) {
      const blobs = scopes.get(scope) ?? new Map<string, Blob>();
      if (ifAbsent && blobs.has(key)) return false;
      scopes.set(scope, blobs);
      blobs.set(key, { bytes: bytes.slice(), ...(mediaType === undefined ? {} : { mediaType }) });
      return true;
    },
    async get(scope, key) {
      const blob = scopes.get(scope)?.get(key);
      return blob && { ...blob, bytes: blob.bytes.slice() };
    },
    async remove(scope, key) {
      return scopes.get(scope)?.delete(key) ?? false;
    },
    async list(scope, options) {
      const { prefix = "", after, limit = listMax } = options ?? {};
      return [...(scopes.get(scope)?.keys() ?? [])]
        .filter((key) => key.startsWith(prefix) && (after === undefined || key > after))
        .sort()
        .slice(0, limit);
    },
  };
}
