/*
 * Owns: envelope encryption of secrets over a storage: a data key per scope, wrapped by a master key; each value bound to its scope, name and revision.
 * Does not own: where bytes are (storage), master keys (key-ring).
 * Invariants
 *  E1 a value decrypts under its own scope and name alone, and only as the last one that was set;
 *  E2 a name that the seal of its scope lists has a record, or it is unreadable: it is never absent;
 *  E3 a write is one step of the storage, made on the revision that was read.
 */
import { AgentError } from "@loopwright/core";
import type { SecretStore } from "@loopwright/core/ports";
import { checkSecret } from "@loopwright/core/stores";
import { randomKey, seal } from "./envelope/envelope.ts";
import type { KeyRing } from "./key-ring.ts";
import type { ScopeHead, SecretStorage } from "./storage/secret-storage.ts";
import { opened, unreadable } from "./unreadable.ts";

export interface SecretsOptions {
  readonly storage: SecretStorage;
  readonly keys: KeyRing;
}

/** A store of encrypted secrets. */
export interface EncryptedSecrets extends SecretStore {
  /**
   * Wraps the data key of every scope that another master key wrapped with the current one, and gives their count. Readers and writers continue meanwhile.
   * It can be repeated; after it no stored key needs another master key. @throws AgentError SECRET_UNREADABLE, STORE_*
   */
  rewrap(): Promise<number>;
}

/** How often a write begins again because another one came first. */
const conflictsMax = 50;

export function createSecrets(options: SecretsOptions): EncryptedSecrets {
  return new EnvelopeSecrets(options);
}

/** The revision that each name was written at. */
type Revisions = Readonly<Record<string, number>>;

/** A scope, opened. */
interface OpenScope {
  readonly head: ScopeHead | undefined;
  readonly dataKey: Uint8Array;
  readonly revisions: Revisions;
}

class EnvelopeSecrets implements EncryptedSecrets {
  readonly #storage: SecretStorage;
  readonly #keys: KeyRing;

  constructor({ storage, keys }: SecretsOptions) {
    this.#storage = storage;
    this.#keys = keys;
  }

  async get(scope: string, name: string): Promise<string | undefined> {
    checkSecret(scope, name);
    const { head, record } = await this.#storage.read(scope, name);
    if (!head) {
      if (record) throw unreadable("the key of its scope is missing");
      return undefined;
    }
    const { dataKey, revisions } = await this.#opened(scope, head);
    const revision = Object.hasOwn(revisions, name) ? revisions[name] : undefined;
    if (revision === undefined) return undefined;
    if (!record) throw unreadable("its record is missing");
    return new TextDecoder().decode(opened(dataKey, secretPlace(scope, name, revision), record));
  }

  set(scope: string, name: string, value: string): Promise<void> {
    return this.#change(scope, name, async () => {
      checkSecret(scope, name, value);
      return new TextEncoder().encode(value);
    }).then(() => undefined);
  }

  remove(scope: string, name: string): Promise<boolean> {
    return this.#change(scope, name, async () => {
      checkSecret(scope, name);
      return undefined;
    });
  }

  async names(scope: string): Promise<readonly string[]> {
    checkSecret(scope);
    const { head } = await this.#storage.read(scope);
    return head ? Object.keys((await this.#opened(scope, head)).revisions).sort() : [];
  }

  async rewrap(): Promise<number> {
    let count = 0;
    for (const scope of await this.#storage.scopes()) if (await this.#rewrapScope(scope)) count++;
    return count;
  }

  async #rewrapScope(scope: string): Promise<boolean> {
    for (let conflicts = 0; conflicts < conflictsMax; conflicts++) {
      const { head } = await this.#storage.read(scope);
      if (!head || head.key.masterId === this.#keys.currentId) return false;
      const { dataKey, revisions } = await this.#opened(scope, head);
      const revision = head.revision + 1;
      const changed: ScopeHead = {
        revision,
        key: await this.#keys.wrap(dataKey, scope),
        seal: seal(dataKey, sealPlace(scope, revision), encoded(revisions)),
      };
      if (await this.#storage.write(scope, { expected: head.revision, head: changed })) return true;
    }
    throw conflict();
  }

  /** Sets what `bytesOf` gives, or removes. Returns whether there was a secret of the name. */
  async #change(scope: string, name: string, bytesOf: () => Promise<Uint8Array | undefined>): Promise<boolean> {
    const plain = await bytesOf();
    for (let conflicts = 0; conflicts < conflictsMax; conflicts++) {
      const { head } = await this.#storage.read(scope);
      const { dataKey, revisions } = head ? await this.#opened(scope, head) : { dataKey: randomKey(), revisions: {} as Revisions };
      const isKnown = Object.hasOwn(revisions, name);
      if (!plain && !isKnown) return false;
      const revision = (head?.revision ?? 0) + 1;
      const { [name]: _, ...others } = revisions;
      const listed = plain ? { ...others, [name]: revision } : others;
      const change = {
        expected: head?.revision ?? 0,
        head: {
          revision,
          key: head?.key ?? (await this.#keys.wrap(dataKey, scope)),
          seal: seal(dataKey, sealPlace(scope, revision), encoded(listed)),
        },
        record: { name, ...(plain ? { bytes: seal(dataKey, secretPlace(scope, name, revision), plain) } : {}) },
      };
      if (await this.#storage.write(scope, change)) return isKnown;
    }
    throw conflict();
  }

  async #opened(scope: string, head: ScopeHead): Promise<OpenScope & { readonly head: ScopeHead }> {
    const dataKey = await this.#keys.unwrap(head.key, scope);
    const listed = opened(dataKey, sealPlace(scope, head.revision), head.seal);
    return { head, dataKey, revisions: JSON.parse(new TextDecoder().decode(listed)) as Revisions };
  }
}

const secretPlace = (scope: string, name: string, revision: number): readonly unknown[] => ["loopwright secret", scope, name, revision];
const sealPlace = (scope: string, revision: number): readonly unknown[] => ["loopwright names", scope, revision];
const encoded = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

const conflict = (): AgentError =>
  new AgentError("STORE_CONFLICT", { message: "Other writers changed the secrets of this scope too often at once." });
