import { isAgentError } from "@loopwright/core";
import type { ConditionalBlobs } from "../conditional-blobs.ts";
import { damaged } from "./sealed-object.ts";

/** The objects of one session: where the place reports an object as damaged, the session is, and no other. */
export function sessionObjects(blobs: ConditionalBlobs): ConditionalBlobs {
  const own = async <T>(key: string, asking: Promise<T>): Promise<T> => {
    try {
      return await asking;
    } catch (error) {
      throw isAgentError(error, "STORE_CORRUPT") ? damaged(key) : error;
    }
  };
  const { exclusive, clockGrainMs } = blobs;
  return {
    ...(exclusive === undefined ? {} : { exclusive }),
    ...(clockGrainMs === undefined ? {} : { clockGrainMs }),
    get: (key) => own(key, blobs.get(key)),
    has: (key) => own(key, blobs.has(key)),
    put: (key, bytes, options) => own(key, blobs.put(key, bytes, options)),
    remove: (key, options) => own(key, blobs.remove(key, options)),
    list: (prefix, options) => own(prefix, blobs.list(prefix, options)),
    close: () => blobs.close(),
  };
}
