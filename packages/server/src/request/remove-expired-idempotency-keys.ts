import type { BlobStore } from "@loopwright/core/ports";

/** The prefix of the names of a scope's kept keys, before the digest of the key in hexadecimal digits. */
export const keyPrefix = "idempotency-";

/** The length of the prefix in a list: two digits of the digest too, because some stores read all keys with the prefix. */
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
 * Looks at the few keys that come right after a new key, and removes the expired ones. A scope keeps about a third more keys than it gets in the lifetime
 * of a key, plus some hundreds; a scope without new keys keeps its old keys. Resolves with the number of removed keys. @throws AgentError STORE_*
 */
export async function removeExpiredKeys(blobs: BlobStore, { scope, name, isExpired }: ExpiredKeys): Promise<number> {
  let removed = 0;
  for (const other of await blobs.list(scope, { prefix: name.slice(0, bucketLength), after: name, limit: keysAtOnce })) {
    const blob = await blobs.get(scope, other);
    if (blob && isExpired(JSON.parse(new TextDecoder().decode(blob.bytes))) && (await blobs.remove(scope, other))) removed += 1;
  }
  return removed;
}
