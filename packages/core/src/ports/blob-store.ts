/** A value and its media type. */
export interface Blob {
  readonly bytes: Uint8Array;
  readonly mediaType?: string;
}

export interface BlobPut extends Blob {
  /** Keeps an existing value of the same owner; the result is then false. */
  readonly ifAbsent?: boolean;
  /** The session that owns the value. Absent: the scope. */
  readonly session?: string;
}

/**
 * Bytes under a key. A value belongs to the scope or to a session, and may have several owners: it exists until each of them is erased.
 * `SessionLog.remove` erases what a session owns. What belongs to the scope stays until `remove`, or until a session takes it over.
 * Large values of logs are stored under `sha256-<hex>`; other keys are the application's. A key that several owners use must name its content, so
 * that the values of all owners are equal.
 */
export interface BlobStore {
  /**
   * Writes the whole value, or nothing if it fails, and replaces an existing value and its media type. The value may be empty; the store copies the
   * bytes. Of several writes at once with `ifAbsent` one returns true. An acknowledged write is as durable as the store promises. False, and nothing
   * is written, for a session that was removed.
   */
  put(scope: string, key: string, blob: BlobPut): Promise<boolean>;
  /** Returns `undefined` when the key has no value. The caller owns the bytes. With `session` the value of that owner is preferred. */
  get(scope: string, key: string, options?: { readonly session?: string }): Promise<Blob | undefined>;
  /**
   * Makes the session an owner of the value in place of the scope. Idempotent. False when the key has no value, and for a session that was
   * removed.
   */
  own(scope: string, key: string, session: string): Promise<boolean>;
  /**
   * Removes the values of all owners. True if there was one. The key may be used again. With `ifUnused` it removes nothing, and the result is false, if a
   * session owns the key; a session that becomes an owner at the same moment keeps its value.
   */
  remove(scope: string, key: string, options?: { readonly ifUnused?: boolean }): Promise<boolean>;
  /** Lists the keys of all owners that start with the prefix, in which no character is special, each once, ascending, at most `limit` (default 1,000), after `after`. */
  list(scope: string, options?: { readonly prefix?: string; readonly after?: string; readonly limit?: number }): Promise<readonly string[]>;
}
