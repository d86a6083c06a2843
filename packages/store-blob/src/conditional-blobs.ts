/** An object and the metadata of the place it lies in. */
export interface StoredObject {
  readonly bytes: Uint8Array;
  /** Names this version of the object; another version never has the same. */
  readonly etag: string;
  /** Milliseconds since it was written, by the place's own clock; infinite when it was written before that clock began. */
  readonly ageMs: number;
  readonly mediaType?: string;
}

export interface PutOptions {
  /** Only where nothing is. */
  readonly ifNoneMatch?: boolean;
  /** Only in place of this version. */
  readonly ifMatch?: string;
  readonly mediaType?: string;
  /** False for what may be lost with the machine: a draft. Default true. */
  readonly isDurable?: boolean;
  /** For other programs: a folder keeps exactly these bytes as the file, without a checksum, so `get` refuses it. Default false. */
  readonly isPlain?: boolean;
}

/**
 * - `written`: whole, and durable unless that was not asked for.
 * - `refused`: the condition did not hold. With `mayBeOwn` an earlier try of the same call may be what stands there.
 * - `full`: nothing was written for want of space.
 * - `unknown`: it may or may not have been written, and may still be.
 */
export type PutOutcome =
  | { readonly type: "written"; readonly etag: string }
  | { readonly type: "refused"; readonly mayBeOwn: boolean }
  | { readonly type: "full" }
  | { readonly type: "unknown" };

export interface ListedObject {
  readonly key: string;
  /** Absent where a list does not hold it. */
  readonly etag?: string;
}

export interface ObjectPage {
  readonly objects: readonly ListedObject[];
  /** There are more after the last one. */
  readonly hasMore: boolean;
}

/**
 * Whole objects under keys, and writes that happen only under a condition: all that a session store needs of a place.
 * Keys are segments of `a-z 0-9 _ - . = ~` joined by `/`. A conditional `put` is decided by the place itself, atomically; `get` and `list`
 * may be a moment behind. Methods reject only with AgentError STORE_UNAVAILABLE, STORE_READ_ONLY, STORE_FULL, STORE_CORRUPT or
 * CONFIG_INVALID; a `put` that rejects has written nothing.
 */
export interface ConditionalBlobs {
  /**
   * Present where this object is the only writer there is. Objects with another `life` were written by a process that has ended.
   * Absent: many may write, on many machines.
   */
  readonly exclusive?: { readonly life: string };
  /** What the place's clock counts in: leases run that much longer, so that none ends early. Default 0. */
  readonly clockGrainMs?: number;
  get(key: string): Promise<StoredObject | undefined>;
  has(key: string): Promise<boolean>;
  put(key: string, bytes: Uint8Array, options?: PutOptions): Promise<PutOutcome>;
  /** Removes the object where there is one. With `isDurable` it does not come back when the machine fails; default false. */
  remove(key: string, options?: { readonly isDurable?: boolean }): Promise<void>;
  /** Keys that start with the prefix, ascending, after `after`, at most `limit` (default 1,000) and perhaps fewer: see `hasMore`. */
  list(prefix: string, options?: { readonly after?: string; readonly limit?: number }): Promise<ObjectPage>;
  /** Lets go of what is held. Twice is once. */
  close(): Promise<void>;
}
