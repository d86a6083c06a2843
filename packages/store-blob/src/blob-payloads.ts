import { AgentError } from "@loopwright/core";
import type { BlobStore } from "@loopwright/core/ports";
import type { ConditionalBlobs } from "./conditional-blobs.ts";
import { listAll } from "./list-all.ts";
import { blobKeyOf, blobNameOf, blobPrefixOf } from "./object-keys.ts";

const listMax = 1_000;

/** Applications' blobs, one object each. */
export function blobPayloads(blobs: ConditionalBlobs): BlobStore {
  return {
    async put(scope, key, { bytes, mediaType, ifAbsent = false }) {
      const place = blobKeyOf(scope, key);
      // A copy: the caller may change his array while it is under way.
      const own = bytes.slice();
      const outcome = await blobs.put(place, own, { ifNoneMatch: ifAbsent, ...(mediaType === undefined ? {} : { mediaType }) });
      switch (outcome.type) {
        case "written":
          return true;
        case "refused":
          return outcome.mayBeOwn && isSame(await blobs.get(place), own);
        case "full":
          throw new AgentError("STORE_FULL", { message: `There is no space left for a blob of ${own.length} bytes.` });
        case "unknown":
          throw new AgentError("STORE_UNAVAILABLE", { message: `The store did not answer in time about a blob of ${own.length} bytes.` });
      }
    },
    async get(scope, key) {
      const object = await blobs.get(blobKeyOf(scope, key));
      return object && { bytes: object.bytes, ...(object.mediaType === undefined ? {} : { mediaType: object.mediaType }) };
    },
    async remove(scope, key) {
      const place = blobKeyOf(scope, key);
      if (!(await blobs.has(place))) return false;
      await blobs.remove(place);
      return true;
    },
    async list(scope, { prefix = "", after, limit = listMax } = {}) {
      const names: string[] = [];
      for await (const { key } of listAll(blobs, blobPrefixOf(scope, prefix))) {
        const name = blobNameOf(scope, key);
        if (name.startsWith(prefix) && (after === undefined || name > after)) names.push(name);
      }
      // The order of escaped keys is not that of the keys.
      return names.sort().slice(0, limit);
    },
  };
}

function isSame(object: { readonly bytes: Uint8Array } | undefined, bytes: Uint8Array): boolean {
  return object !== undefined && Buffer.compare(object.bytes, bytes) === 0;
}
