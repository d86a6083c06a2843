import type { BlobStore } from "@loopwright/core/ports";

/** What the kept keys of a scope are called: this, and the digest of the key in hexadecimal digits. */
export const keyPrefix = "idempotency-";

/** Keys of one list: those whose digests begin alike. Some stores read all of them to answer. */
const bucketLength = keyPrefix.length + 2;
/** Keys that are looked at for each new one: with more than one, fewer are too old than are not. */
const keysAtOnce = 4;

export interface OldKeys {
  readonly scope: string;
  /** The new key. Digests are evenly spread: each old key comes after a new one before long. */
  readonly name: string;
  readonly isOld: (kept: unknown) => boolean;
}

/**
 * Removes what is too old of the few keys that come right after a new one. A scope keeps as many keys as it gets in the time that they count,
 * about a third more, and some hundreds; one that gets no new ones keeps what it has. Resolves with how many went. @throws AgentError STORE_*
 */
export async function removeOldKeys(blobs: BlobStore, { scope, name, isOld }: OldKeys): Promise<number> {
  let removed = 0;
  for (const other of await blobs.list(scope, { prefix: name.slice(0, bucketLength), after: name, limit: keysAtOnce })) {
    const blob = await blobs.get(scope, other);
    if (blob && isOld(JSON.parse(new TextDecoder().decode(blob.bytes))) && (await blobs.remove(scope, other))) removed += 1;
  }
  return removed;
}
