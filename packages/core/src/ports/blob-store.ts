/** A value and what is known of it. */
export interface Blob {
  readonly bytes: Uint8Array;
  readonly mediaType?: string;
}

/** Bytes under a key. Payloads of logs are stored under `sha256-<hex>`; other keys are the application's. */
export interface BlobStore {
  /** Writes the whole value, or nothing. With `ifAbsent` an existing value stays and the answer is false. Acknowledged means durable as the store promises it. */
  put(scope: string, key: string, blob: Blob & { readonly ifAbsent?: boolean }): Promise<boolean>;
  /** `undefined` where nothing is. The caller owns the bytes. */
  get(scope: string, key: string): Promise<Blob | undefined>;
  /** True if something was there. */
  remove(scope: string, key: string): Promise<boolean>;
  /** Keys that start with the prefix, ascending, at most `limit` (default 1,000), after `after`. */
  list(scope: string, options?: { readonly prefix?: string; readonly after?: string; readonly limit?: number }): Promise<readonly string[]>;
}
