import { AgentError } from "@loopwright/core";
import type { Blob, BlobStore } from "@loopwright/core/ports";
import { open, seal } from "@loopwright/secrets/envelope";
import type { SessionKeys } from "./session-keys.ts";

/** The owner whose key encrypted a value: a session, or the scope where the name is empty. */
interface OwnedBytes {
  readonly session: string;
  readonly body: Uint8Array;
}

/** Values of a blob store, encrypted with the key of the session that owns them, or with that of the scope. Names and media types stay readable. */
export function sealedBlobs(blobs: BlobStore, keys: SessionKeys): BlobStore {
  const sealFor = async (scope: string, name: string, { bytes, session = "" }: { bytes: Uint8Array; session?: string | undefined }) => {
    const key = session === "" ? await keys.scope(scope) : await keys.createSession({ scope, session });
    return joined(session, seal(key, [scope, session, "blob", name], bytes));
  };
  const openOf = async (scope: string, name: string, bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> => {
    const { session, body } = parted(bytes);
    const key = session === "" ? await keys.scope(scope) : await keys.session({ scope, session });
    const opened = key && open(key, [scope, session, "blob", name], body);
    if (opened) return new Uint8Array(opened);
    throw new AgentError("BLOB_NOT_FOUND", {
      message: `The value \`${name.slice(0, 80)}\` cannot be decrypted: its key was erased, or it was changed.`,
      fix: "Restore keys and blobs together, or delete the session that names it.",
    });
  };
  return {
    async put(scope, name, { bytes, ...put }) {
      return blobs.put(scope, name, { ...put, bytes: await sealFor(scope, name, { bytes, session: put.session }) });
    },
    async get(scope, name, options) {
      const found = await blobs.get(scope, name, options);
      return found && ({ ...found, bytes: await openOf(scope, name, found.bytes) } satisfies Blob);
    },
    async own(scope, name, session) {
      const found = await blobs.get(scope, name, { session });
      if (!found) return false;
      const isOwn = parted(found.bytes).session === session;
      if (isOwn) return blobs.own(scope, name, session);
      // The copy of the new owner is encrypted with its own key: it must outlive the key of the one that it comes from.
      const bytes = await openOf(scope, name, found.bytes);
      if (!(await blobs.own(scope, name, session))) return false;
      return blobs.put(scope, name, { ...found, bytes: await sealFor(scope, name, { bytes, session }), session });
    },
    remove: (scope, name, options) => blobs.remove(scope, name, options),
    list: (scope, options) => blobs.list(scope, options),
  };
}

/** The length of the owner's name in one byte, the name, the encrypted value. Ids have at most 64 letters of ASCII. */
const joined = (session: string, body: Uint8Array): Uint8Array =>
  Buffer.concat([Uint8Array.of(session.length), Buffer.from(session), body]);

function parted(bytes: Uint8Array): OwnedBytes {
  const end = 1 + (bytes[0] ?? 0);
  return { session: new TextDecoder().decode(bytes.subarray(1, end)), body: bytes.subarray(end) };
}
