/** An object and the metadata that its storage keeps. */
export interface StoredObject {
  readonly bytes: Uint8Array;
  /** Names this version of the object; another version never has the same. */
  readonly etag: string;
  /** Milliseconds since it was written, by the storage's own clock; infinite when it was written before that clock began. */
  readonly ageMs: number;
  readonly mediaType?: string;
}

export interface PutOptions {
  /** Writes only if the key has no object. */
  readonly ifNoneMatch?: boolean;
  /** Writes only if the object has this version. */
  readonly ifMatch?: string;
  readonly mediaType?: string;
  /** False for an object that may be lost in a power failure, such as a draft. Default true. */
  readonly isDurable?: boolean;
  /** For other programs: a folder keeps exactly these bytes as the file, without a checksum, so `get` refuses it. Default false. */
  readonly isPlain?: boolean;
}

/**
 * - `written`: whole, and durable unless that was not asked for.
 * - `refused`: the condition did not hold. With `mayBeOwn` the existing object may be from an earlier try of the same call.
 * - `full`: nothing was written, because there is no space.
 * - `unknown`: it may or may not have been written, and may still be.
 */
export type PutOutcome =
  | { readonly type: "written"; readonly etag: string }
  | { readonly type: "refused"; readonly mayBeOwn: boolean }
  | { readonly type: "full" }
  | { readonly type: "unknown" };

export interface ListedObject {
  readonly key: string;
  /** Absent if the list does not contain it. */
  readonly etag?: string;
}

export interface ObjectPage {
  readonly objects: readonly ListedObject[];
  /** There are more after the last one. */
  readonly hasMore: boolean;
}

/**
 * Whole objects under keys, and conditional writes: all that a session store needs of a storage.
 * Keys are segments of `a-z 0-9 _ - . = ~` joined by `/`. The storage itself decides a conditional `put`, atomically; `get` and `list`
 * may return a slightly older state. Methods reject only with AgentError STORE_UNAVAILABLE, STORE_READ_ONLY, STORE_FULL, STORE_CORRUPT or
 * CONFIG_INVALID; a `put` that rejects has written nothing.
 */
export interface ConditionalBlobs {
  /**
   * Present if this process is the only writer. Objects with another `life` were written by a process that has ended.
   * Absent: many processes may write, on many machines.
   */
  readonly exclusive?: { readonly life: string };
  /** The resolution of the storage's clock: leases run that much longer, so that none ends early. Default 0. */
  readonly clockGrainMs?: number;
  get(key: string): Promise<StoredObject | undefined>;
  has(key: string): Promise<boolean>;
  put(key: string, bytes: Uint8Array, options?: PutOptions): Promise<PutOutcome>;
  /** Removes the object if there is one. With `isDurable` the removal survives a power failure; default false. */
  remove(key: string, options?: { readonly isDurable?: boolean }): Promise<void>;
  /** Keys that start with the prefix, ascending, after `after`, at most `limit` (default 1,000) and perhaps fewer: see `hasMore`. */
  list(prefix: string, options?: { readonly after?: string; readonly limit?: number }): Promise<ObjectPage>;
  /** Releases locks and connections. Idempotent. */
  close(): Promise<void>;
}
