import { AgentError, isAgentError } from "@loopwright/core";
import type { BlobStore, SessionRef } from "@loopwright/core/ports";
import type { KeyRing } from "@loopwright/secrets";
import { randomKey } from "@loopwright/secrets/envelope";
import type { SessionKeys } from "./session-keys.ts";

export interface WrappedKeysOptions {
  /** Where the encrypted keys are kept: of another file, server or bucket than the sessions. */
  readonly blobs: BlobStore;
  /** What encrypts the keys: `masterKeys` of `@loopwright/secrets`, or a key service. Master keys of earlier rotations are needed until `rewrap` has been through. */
  readonly master: KeyRing;
  /** How many keys are kept in memory. Default 1,000. */
  readonly keptMax?: number;
  /** How long one is kept there: as long another process may still open a session whose key was erased. Default 60,000. */
  readonly keptMs?: number;
}

export interface WrappedKeys extends SessionKeys {
  /** Encrypts the keys of a scope that are under earlier master keys again, under the current one. Returns their number. Idempotent; runs beside readers. */
  rewrap(scope: string): Promise<number>;
}

const scopeKeyName = "scope-key";
const nameOf = (session: string): string => `session-key-${session}`;
const listed = 500;

/**
 * Keys of sessions in a blob store, each encrypted under a master key (envelope encryption). A record that is moved to another scope or session cannot be
 * opened there: CONFIG_INVALID.
 */
export function wrappedKeys({ blobs, master, keptMax = 1_000, keptMs = 60_000 }: WrappedKeysOptions): WrappedKeys {
  const kept = new Map<string, { readonly key: Uint8Array; readonly until: number }>();
  const remember = (place: string, key: Uint8Array): Uint8Array => {
    if (kept.size >= keptMax) for (const oldest of [...kept.keys()].slice(0, Math.ceil(keptMax / 10))) kept.delete(oldest);
    kept.set(place, { key, until: performance.now() + keptMs });
    return key;
  };
  const read = async (scope: string, name: string): Promise<Uint8Array | undefined> => {
    const place = `${scope}/${name}`;
    const known = kept.get(place);
    if (known && known.until > performance.now()) return known.key;
    kept.delete(place);
    const found = await blobs.get(scope, name);
    return found && remember(place, await unwrap(master, found.bytes, place));
  };
  const create = async (scope: string, name: string): Promise<Uint8Array> => {
    const known = await read(scope, name);
    if (known) return known;
    const [key, place] = [randomKey(), `${scope}/${name}`];
    if (await blobs.put(scope, name, { bytes: await wrap(master, key, place), ifAbsent: true })) return remember(place, key);
    const winner = await read(scope, name);
    if (winner) return winner;
    throw new AgentError("STORE_UNAVAILABLE", { message: "The key was erased while it was made.", fix: "Try again." });
  };
  const erase = async (scope: string, name: string): Promise<void> => {
    kept.delete(`${scope}/${name}`);
    await blobs.remove(scope, name);
  };
  return {
    session: ({ scope, session }) => read(scope, nameOf(session)),
    createSession: ({ scope, session }) => create(scope, nameOf(session)),
    scope: (scope) => create(scope, scopeKeyName),
    eraseSession: ({ scope, session }: SessionRef) => erase(scope, nameOf(session)),
    async eraseScope(scope) {
      await erase(scope, scopeKeyName);
      for await (const name of namesIn(blobs, scope)) await erase(scope, name);
    },
    async rewrap(scope) {
      let count = 0;
      for await (const name of namesIn(blobs, scope)) if (await rewrapOne({ blobs, master }, scope, name)) count++;
      return count;
    },
  };
}

async function* namesIn(blobs: BlobStore, scope: string): AsyncGenerator<string> {
  for (const prefix of [scopeKeyName, nameOf("")])
    for (let after: string | undefined; ; ) {
      const names = await blobs.list(scope, { prefix, limit: listed, ...(after === undefined ? {} : { after }) });
      yield* names;
      after = names.at(-1);
      if (names.length < listed) break;
    }
}

async function rewrapOne({ blobs, master }: Pick<WrappedKeysOptions, "blobs" | "master">, scope: string, name: string): Promise<boolean> {
  const found = await blobs.get(scope, name);
  if (!found || recordOf(found.bytes).id === master.currentId) return false;
  const place = `${scope}/${name}`;
  const key = await unwrap(master, found.bytes, place);
  await blobs.put(scope, name, { bytes: await wrap(master, key, place) });
  return true;
}

interface KeyRecord {
  readonly id: string;
  readonly sealed: string;
}

async function wrap(master: KeyRing, key: Uint8Array, place: string): Promise<Uint8Array> {
  const { masterId, bytes } = await master.wrap(key, place);
  return Buffer.from(JSON.stringify({ id: masterId, sealed: Buffer.from(bytes).toString("base64") }));
}

const recordOf = (bytes: Uint8Array): KeyRecord => JSON.parse(new TextDecoder().decode(bytes)) as KeyRecord;

async function unwrap(master: KeyRing, bytes: Uint8Array, place: string): Promise<Uint8Array> {
  const { id, sealed } = recordOf(bytes);
  try {
    return await master.unwrap({ masterId: id, bytes: Buffer.from(sealed, "base64") }, place);
  } catch (cause) {
    if (!isAgentError(cause, "SECRET_UNREADABLE")) throw cause;
    throw new AgentError("CONFIG_INVALID", {
      message: `A key of a session, which is under the master key \`${id.slice(0, 64)}\`, cannot be opened.`,
      fix: "Give the master keys that these keys were encrypted with; keys that were changed or moved cannot be opened.",
      cause,
    });
  }
}
