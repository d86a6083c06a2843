import { randomBytes } from "node:crypto";
import { AgentError } from "@loopwright/core";
import type { BlobStore, SessionRef } from "@loopwright/core/ports";
import { keyBytes, open, seal } from "./cipher.ts";
import type { SessionKeys } from "./session-keys.ts";

/** The keys that encrypt the keys of sessions. */
export interface MasterKeys {
  /** The id of the one that encrypts new keys. */
  readonly current: string;
  /** By id, 32 bytes each. Those of earlier rotations are needed until `rewrap` has been through. */
  readonly keys: { readonly [id: string]: Uint8Array };
}

export interface WrappedKeysOptions {
  /** Where the encrypted keys are kept: of another file, server or bucket than the sessions. */
  readonly blobs: BlobStore;
  readonly master: MasterKeys;
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
 * opened there. @throws AgentError CONFIG_INVALID for a master key that has not 32 bytes, or a current one that is not among them
 */
export function wrappedKeys({ blobs, master, keptMax = 1_000, keptMs = 60_000 }: WrappedKeysOptions): WrappedKeys {
  checkMaster(master);
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
    return found && remember(place, unwrap(master, found.bytes, [scope, name]));
  };
  const create = async (scope: string, name: string): Promise<Uint8Array> => {
    const known = await read(scope, name);
    if (known) return known;
    const key = randomBytes(keyBytes);
    if (await blobs.put(scope, name, { bytes: wrap(master, key, [scope, name]), ifAbsent: true })) return remember(`${scope}/${name}`, key);
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
  if (!found || recordOf(found.bytes).id === master.current) return false;
  const key = unwrap(master, found.bytes, [scope, name]);
  await blobs.put(scope, name, { bytes: wrap(master, key, [scope, name]) });
  return true;
}

function checkMaster({ current, keys }: MasterKeys): void {
  for (const [id, key] of Object.entries(keys))
    if (key.byteLength !== keyBytes)
      throw new AgentError("CONFIG_INVALID", {
        message: `The master key \`${id}\` has ${key.byteLength} bytes; it needs ${keyBytes}.`,
        fix: "Make one with `openssl rand -base64 32`, and decode it.",
      });
  if (!(current in keys))
    throw new AgentError("CONFIG_INVALID", { message: `There is no master key \`${current}\`.`, fix: "Give it among `keys`." });
}

interface KeyRecord {
  readonly id: string;
  readonly sealed: string;
}

const wrap = ({ current, keys }: MasterKeys, key: Uint8Array, place: readonly string[]): Buffer =>
  Buffer.from(JSON.stringify({ id: current, sealed: seal(keys[current] ?? key, key, [current, ...place]).toString("base64") }));

const recordOf = (bytes: Uint8Array): KeyRecord => JSON.parse(new TextDecoder().decode(bytes)) as KeyRecord;

function unwrap({ keys }: MasterKeys, bytes: Uint8Array, place: readonly string[]): Uint8Array {
  const { id, sealed } = recordOf(bytes);
  const master = keys[id];
  const key = master && open(master, Buffer.from(sealed, "base64"), [id, ...place]);
  if (key) return key;
  throw new AgentError("CONFIG_INVALID", {
    message: master ? "A key of a session cannot be opened with its master key." : `A key of a session is under the master key \`${id}\`.`,
    fix: "Give the master keys that these keys were encrypted with; keys that were changed or moved cannot be opened.",
  });
}
