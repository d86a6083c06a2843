import type { ConditionalBlobs } from "../src/index.ts";
import type { MemoryBlobs } from "./memory-blobs.ts";

/** Serves so many half-requests, then dies: with an odd number the last one is done without an answer. */
export function dying(blobs: MemoryBlobs, halves: number): ConditionalBlobs {
  let left = halves;
  const served = async <T>(work: () => Promise<T>): Promise<T> => {
    if (left-- <= 0) throw new Error("dead before");
    const done = await work();
    if (left-- <= 0) throw new Error("dead after");
    return done;
  };
  return {
    ...blobs,
    get: (key) => served(() => blobs.get(key)),
    has: (key) => served(() => blobs.has(key)),
    put: (key, bytes, options) => served(() => blobs.put(key, bytes, options)),
    remove: (key, options) => served(() => blobs.remove(key, options)),
    list: (prefix, options) => served(() => blobs.list(prefix, options)),
  };
}
