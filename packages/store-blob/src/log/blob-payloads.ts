/*
 * A blob of the scope is one object. What a session owns lies under the session, a copy for each owner: so erasing a session is deleting what lies
 * there, and no two nodes can disagree on the last owner. A mark beside it names the sessions that own a key, for readers that name no session.
 * The order of requests: a mark never outlives its copy, and what a session takes over is there before the scope's own is removed.
 */
import { AgentError } from "@loopwright/core";
import type { Blob, BlobStore, SessionRef } from "@loopwright/core/ports";
import type { ConditionalBlobs } from "../conditional-blobs.ts";
import { inParallel } from "../in-parallel.ts";
import { listAll } from "../list-all.ts";
import {
  blobKeyOf,
  blobNameOf,
  blobPrefixOf,
  ownedBy,
  ownedKeyOf,
  ownedNameOf,
  ownerMarkKey,
  ownerMarksOf,
  ownerOfMark,
  ownerPrefixOf,
} from "../object-keys.ts";
import { isRemoved } from "./is-removed.ts";
import type { OpenLogs } from "./open-logs.ts";

const listMax = 1_000;

/** Applications' blobs, one object for each owner. */
export function blobPayloads(logs: OpenLogs): BlobStore {
  const { blobs } = logs.deps;

  async function read(place: string): Promise<Blob | undefined> {
    const object = await blobs.get(place);
    return object && { bytes: object.bytes, ...(object.mediaType === undefined ? {} : { mediaType: object.mediaType }) };
  }

  async function find(scope: string, key: string, session: string | undefined): Promise<Blob | undefined> {
    const own = session === undefined ? undefined : await read(ownedKeyOf({ scope, session }, key));
    const found = own ?? (await read(blobKeyOf(scope, key)));
    if (found) return found;
    for (const owner of await ownersOf(blobs, scope, key)) {
      const copy = await read(ownedKeyOf({ scope, session: owner }, key));
      if (copy) return copy;
    }
    return undefined;
  }

  /** False where the session was removed: then nothing of it is kept. */
  async function give(ref: SessionRef, key: string): Promise<boolean> {
    checkDone(await blobs.put(ownerMarkKey(ref, key), new Uint8Array()), 0);
    // Checked after the writes: a removal that begins later finds them, and one that began before shows here.
    if (!(await isRemoved(logs, ref))) return true;
    await eraseOwned(blobs, ref, ownedKeyOf(ref, key));
    return false;
  }

  return {
    async put(scope, key, { bytes, mediaType, ifAbsent = false, session }) {
      const ref = session === undefined ? undefined : { scope, session };
      const place = ref ? ownedKeyOf(ref, key) : blobKeyOf(scope, key);
      // A copy: the caller may change his array while it is under way.
      const own = new Uint8Array(bytes);
      const outcome = await blobs.put(place, own, { ifNoneMatch: ifAbsent, ...(mediaType === undefined ? {} : { mediaType }) });
      if (outcome.type !== "refused") checkDone(outcome, own.length);
      if (ref && !(await give(ref, key))) return false;
      return outcome.type === "written" || (outcome.type === "refused" && outcome.mayBeOwn && isSame(await blobs.get(place), own));
    },
    get: (scope, key, options) => find(scope, key, options?.session),
    async own(scope, key, session) {
      const ref = { scope, session };
      const place = ownedKeyOf(ref, key);
      if (!(await blobs.has(place))) {
        const found = await find(scope, key, undefined);
        if (!found) return false;
        const { bytes, mediaType } = found;
        checkDone(await blobs.put(place, bytes, mediaType === undefined ? {} : { mediaType }), bytes.length);
      }
      if (!(await give(ref, key))) return false;
      await blobs.remove(blobKeyOf(scope, key), { isDurable: true });
      return true;
    },
    async remove(scope, key, options) {
      const place = blobKeyOf(scope, key);
      const isOfScope = await blobs.has(place);
      const owners = await ownersOf(blobs, scope, key);
      // A session that becomes an owner from here on has a copy of its own, which stays.
      if (options?.ifUnused && owners.length > 0) return false;
      if (isOfScope) await blobs.remove(place, { isDurable: true });
      for (const session of owners) await eraseOwned(blobs, { scope, session }, ownedKeyOf({ scope, session }, key));
      return isOfScope || owners.length > 0;
    },
    async list(scope, { prefix = "", after, limit = listMax } = {}) {
      const names = new Set<string>();
      const add = (name: string): void => {
        if (name.startsWith(prefix) && (after === undefined || name > after)) names.add(name);
      };
      for await (const { key } of listAll(blobs, blobPrefixOf(scope, prefix))) add(blobNameOf(scope, key));
      for await (const { key } of listAll(blobs, ownerPrefixOf(scope, prefix))) add(ownerOfMark(scope, key).name);
      // The order of escaped keys is not that of the keys.
      return [...names].sort().slice(0, limit);
    },
  };
}

/** Deletes all values that a session owns. Calling it again finishes what a crash cut short. */
export async function eraseBlobsOf(blobs: ConditionalBlobs, ref: SessionRef): Promise<void> {
  const places: string[] = [];
  for await (const { key } of listAll(blobs, ownedBy(ref))) places.push(key);
  await inParallel(places, (place) => eraseOwned(blobs, ref, place));
}

async function eraseOwned(blobs: ConditionalBlobs, ref: SessionRef, place: string): Promise<void> {
  await blobs.remove(ownerMarkKey(ref, ownedNameOf(ref, place)), { isDurable: true });
  await blobs.remove(place, { isDurable: true });
}

/** The sessions that own a blob. */
async function ownersOf(blobs: ConditionalBlobs, scope: string, key: string): Promise<readonly string[]> {
  const sessions: string[] = [];
  for await (const mark of listAll(blobs, ownerMarksOf(scope, key))) sessions.push(ownerOfMark(scope, mark.key).session);
  return sessions;
}

function checkDone({ type }: Awaited<ReturnType<ConditionalBlobs["put"]>>, sizeBytes: number): void {
  if (type === "written") return;
  if (type === "full") throw new AgentError("STORE_FULL", { message: `There is no space left for a blob of ${sizeBytes} bytes.` });
  throw new AgentError("STORE_UNAVAILABLE", { message: `The store did not answer in time about a blob of ${sizeBytes} bytes.` });
}

function isSame(object: { readonly bytes: Uint8Array } | undefined, bytes: Uint8Array): boolean {
  return object !== undefined && Buffer.compare(object.bytes, bytes) === 0;
}
