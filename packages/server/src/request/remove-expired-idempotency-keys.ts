import type { BlobStore } from "@loopwright/core/ports";

/** The prefix of the names of a scope's kept keys, before the digest of the key in hexadecimal digits. */
export const keyPrefix = "idempotency-";

/** The prefix of the keys of one list, whose digests begin alike. Some stores read all of them to answer. */
const bucketLength = keyPrefix.length + 2;
/** The number of keys that are checked for each new one. With more than one, expired keys stay in the minority. */
const keysAtOnce = 4;

export interface ExpiredKeys {
  readonly scope: string;
  /** The new key. Digests are spread evenly, so each old key soon comes right after a new one. */
  readonly name: string;
  readonly isExpired: (kept: unknown) => boolean;
}

/**
 * Removes the expired ones of the few keys that come right after a new one. A scope keeps about a third more keys than it gets in their lifetime, and
 * some hundreds; a scope without new keys keeps its old ones. Resolves with the number of removed keys. @throws AgentError STORE_*
 */
export async function removeExpiredKeys(blobs: BlobStore, { scope, name, isExpired }: ExpiredKeys): Promise<number> {
  let removed = 0;
  for (const other of await blobs.list(scope, { prefix: name.slice(0, bucketLength), after: name, limit: keysAtOnce })) {
    const blob = await blobs.get(scope, other);
    if (blob && isExpired(JSON.parse(new TextDecoder().decode(blob.bytes))) && (await blobs.remove(scope, other))) removed += 1;
  }
  return removed;
}
