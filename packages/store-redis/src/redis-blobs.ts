import type { BlobStore } from "@loopwright/core/ports";
import type { Connection } from "./connection.ts";
import { putBlobScript, removeBlobScript } from "./index-scripts.ts";
import type { StoreKeys } from "./keys.ts";
import { listOf, textOf } from "./reply.ts";
import { answerOf } from "./script.ts";

const listMax = 1_000;
/** What a slow line is given on top of the deadline. */
const bytesPerMs = 4_096;
/** How long a value of unknown size may take to come, on top of the deadline. */
const getExtraMs = 3_000;
/** No text has this byte: it stands behind all that begins with a prefix. */
const beyond: Buffer = Buffer.from([0xff]);

/** One hash per blob, and one sorted set of keys per scope. */
export function redisBlobs({ connection, keys }: { readonly connection: Connection; readonly keys: StoreKeys }): BlobStore {
  return {
    async put(scope, key, { bytes, mediaType, ifAbsent = false }) {
      // A copy: it is sent later, and the caller may go on using his.
      const args = [key, Buffer.from(bytes), mediaType ?? "", ifAbsent ? "1" : ""];
      const extraMs = bytes.length / bytesPerMs;
      return (await answerOf(connection, putBlobScript, { keys: [keys.blob(scope, key), keys.blobs(scope)], args, extraMs })) === 1;
    },
    async get(scope, key) {
      const words = ["HMGET", keys.blob(scope, key), "bytes", "type"];
      const [bytes, mediaType] = listOf(await connection.answer(words, { isBinary: true, extraMs: getExtraMs }));
      if (!(bytes instanceof Uint8Array)) return undefined;
      return { bytes: Uint8Array.from(bytes), ...(mediaType instanceof Buffer ? { mediaType: mediaType.toString() } : {}) };
    },
    async remove(scope, key) {
      return (await answerOf(connection, removeBlobScript, { keys: [keys.blob(scope, key), keys.blobs(scope)], args: [key] })) === 1;
    },
    async list(scope, options) {
      const { prefix = "", after, limit = listMax } = options ?? {};
      const from = after !== undefined && after >= prefix ? `(${after}` : `[${prefix}`;
      const to = Buffer.concat([Buffer.from(`(${prefix}`), beyond]);
      const words = ["ZRANGEBYLEX", keys.blobs(scope), from, to, "LIMIT", "0", String(limit)];
      return listOf(await connection.answer(words)).flatMap((key) => textOf(key) ?? []);
    },
  };
}
