import type { BlobStore } from "@loopwright/core/ports";
import { checkedRef } from "@loopwright/core/stores";
import type { Connection } from "../connection/connection.ts";
import { listOf, textOf } from "../connection/reply.ts";
import { answerOf } from "../connection/script.ts";
import type { StoreKeys } from "../keys.ts";
import { ofSession } from "../keys-of-wrong-type.ts";
import { getBlobScript, ownBlobScript, putBlobScript, putOwnedScript, removeBlobScript } from "./blob-scripts.ts";

const listMax = 1_000;
/** What a slow line is given on top of the deadline. */
const bytesPerMs = 4_096;
/** How long a value of unknown size may take to come, on top of the deadline. */
const getExtraMs = 3_000;
/** No text has this byte: it stands behind all that begins with a prefix. */
const beyond: Buffer = Buffer.from([0xff]);

/** A hash for each blob of the scope and one for the blobs of each session; a sorted set of keys per scope. */
export function redisBlobs({ connection, keys }: { readonly connection: Connection; readonly keys: StoreKeys }): BlobStore {
  const sessionsOf = (scope: string): string => `${keys.sessions}${scope}.`;
  return {
    async put(scope, key, { bytes, mediaType, ifAbsent = false, session }) {
      // A copy: it is sent later, and the caller may reuse its buffer.
      const args = [key, Buffer.from(bytes), mediaType ?? "", ifAbsent ? "1" : "", session ?? ""];
      const extraMs = bytes.length / bytesPerMs;
      if (session === undefined)
        return (await answerOf(connection, putBlobScript, { keys: [keys.blob(scope, key), keys.blobs(scope)], args, extraMs })) === 1;
      const ref = checkedRef({ scope, session });
      const { meta, blobs } = keys.session(ref);
      const owned = [meta, blobs, keys.owners(scope, key), keys.blobs(scope)];
      return (await ofSession(ref, answerOf(connection, putOwnedScript, { keys: owned, args, extraMs }))) === 1;
    },
    async get(scope, key, options) {
      // No session has an empty id: its hash is never there.
      const ref = { scope, session: options?.session ?? "" };
      const input = { keys: [keys.session(ref).blobs, keys.blob(scope, key), keys.owners(scope, key)], args: [key, sessionsOf(scope)] };
      const asking = answerOf(connection, getBlobScript, { ...input, isBinary: true, extraMs: getExtraMs });
      const [bytes, mediaType] = listOf(await (options?.session === undefined ? asking : ofSession(ref, asking)));
      if (!(bytes instanceof Uint8Array)) return undefined;
      return { bytes: Uint8Array.from(bytes), ...(mediaType instanceof Buffer ? { mediaType: mediaType.toString() } : {}) };
    },
    async own(scope, key, session) {
      const ref = checkedRef({ scope, session });
      const { meta, blobs } = keys.session(ref);
      const input = { keys: [meta, blobs, keys.owners(scope, key), keys.blob(scope, key)], args: [key, sessionsOf(scope), session] };
      return (await ofSession(ref, answerOf(connection, ownBlobScript, { ...input, extraMs: getExtraMs }))) === 1;
    },
    async remove(scope, key, options) {
      const args = [key, sessionsOf(scope), options?.ifUnused ? "1" : ""];
      const input = { keys: [keys.blob(scope, key), keys.blobs(scope), keys.owners(scope, key)], args };
      return (await answerOf(connection, removeBlobScript, input)) === 1;
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
