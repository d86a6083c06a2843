import type { Clock } from "@loopwright/core/ports";
import type { ConditionalBlobs, PutOptions } from "../src/index.ts";

export interface MemoryObject {
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly writtenMs: number;
  readonly mediaType?: string | undefined;
}

export interface MemoryBlobsOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Waited for before each request is served: its place among all others. */
  readonly before?: (request: { readonly name: keyof ConditionalBlobs; readonly key: string }) => Promise<void> | undefined;
}

/** Objects in this process that any number of stores may share, and what is in them. */
export interface MemoryBlobs extends ConditionalBlobs {
  readonly objects: Map<string, MemoryObject>;
}

export function memoryBlobs({ clock, before }: MemoryBlobsOptions): MemoryBlobs {
  const objects = new Map<string, MemoryObject>();
  let count = 0;

  function put(
    key: string,
    bytes: Uint8Array,
    { ifMatch, ifNoneMatch, mediaType }: PutOptions,
  ): Awaited<ReturnType<ConditionalBlobs["put"]>> {
    const found = objects.get(key);
    if ((ifNoneMatch && found) || (ifMatch !== undefined && found?.etag !== ifMatch)) return { type: "refused", mayBeOwn: false };
    const etag = `v${count++}`;
    objects.set(key, { bytes: bytes.slice(), etag, writtenMs: clock.monotonic(), mediaType });
    return { type: "written", etag };
  }

  return {
    objects,
    async get(key) {
      await before?.({ name: "get", key });
      const found = objects.get(key);
      if (!found) return undefined;
      const { bytes, etag, writtenMs, mediaType } = found;
      return { bytes: bytes.slice(), etag, ageMs: clock.monotonic() - writtenMs, ...(mediaType === undefined ? {} : { mediaType }) };
    },
    async has(key) {
      await before?.({ name: "has", key });
      return objects.has(key);
    },
    async put(key, bytes, options = {}) {
      await before?.({ name: "put", key });
      return put(key, bytes, options);
    },
    async remove(key) {
      await before?.({ name: "remove", key });
      objects.delete(key);
    },
    async list(prefix, { after = "", limit = 1_000 } = {}) {
      await before?.({ name: "list", key: prefix });
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
      const page = keys.slice(0, Math.min(limit, 1_000));
      return { objects: page.map((key) => ({ key, etag: objects.get(key)?.etag ?? "" })), hasMore: keys.length > page.length };
    },
    async close() {},
  };
}
