/** A value and what is known of it. */
export interface Blob {
  readonly bytes: Uint8Array;
  readonly mediaType?: string;
}

export interface BlobPut extends Blob {
  /** An existing value of the same owner stays, and the answer is false. */
  readonly ifAbsent?: boolean;
  /** The session that owns the value. Absent: the scope. */
  readonly session?: string;
}

/**
 * Bytes under a key. A value belongs to the scope or to a session, and may have several owners: it exists until each of them is erased.
 * `SessionLog.remove` erases what a session owns. What belongs to the scope stays until `remove`, or until a session takes it over.
 * Payloads of logs are stored under `sha256-<hex>`; other keys are the application's. A key that several owners use names its content:
 * whichever of their values is read, it is the same.
 */
export interface BlobStore {
  /**
   * Writes the whole value, or nothing. Acknowledged means durable as the store promises it. For a session that was removed nothing is kept,
   * and the answer is false.
   */
  put(scope: string, key: string, blob: BlobPut): Promise<boolean>;
  /** `undefined` where nothing is. The caller owns the bytes. With `session` the value of that owner is looked for first. */
  get(scope: string, key: string, options?: { readonly session?: string }): Promise<Blob | undefined>;
  /**
   * Makes the session an owner of what is there; the scope is none any longer. Twice is once. False where nothing is, and for a session that
   * was removed.
   */
  own(scope: string, key: string, session: string): Promise<boolean>;
  /** Removes the value of every owner. True if something was there. */
  remove(scope: string, key: string): Promise<boolean>;
  /** Keys of all owners that start with the prefix, each once, ascending, at most `limit` (default 1,000), after `after`. */
  list(scope: string, options?: { readonly prefix?: string; readonly after?: string; readonly limit?: number }): Promise<readonly string[]>;
}
