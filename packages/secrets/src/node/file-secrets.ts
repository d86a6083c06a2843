/*
 * Owns: encrypted secrets in one file under a passphrase: its header with the costs of the passphrase, and that it is replaced whole.
 * Does not own: the envelope (create-secrets), how the key comes from the passphrase (passphrase-key).
 */
import { randomBytes } from "node:crypto";
import { AgentError } from "@loopwright/core";
import { checkSecret } from "@loopwright/core/stores";
import { createSecrets, type EncryptedSecrets } from "../create-secrets.ts";
import type { KeyRing } from "../key-ring.ts";
import { type MasterKey, masterKeys } from "../master-keys.ts";
import { memoryStorage } from "../storage/memory-storage.ts";
import type { SecretStorage } from "../storage/secret-storage.ts";
import { type Argon2Cost, argon2Cost, isAffordable, passphraseKey } from "./passphrase-key.ts";
import { contentOf, type FileContent, type FileHeader, SecretFile, storedIn } from "./secret-file.ts";

export interface FileSecretsOptions {
  /** The file; it is made by the first secret that is set, and its folder with it. Only this user may read it. */
  readonly path: string;
  readonly passphrase: string;
  /** What a guess costs in a file that is written anew. Default `argon2Cost`. */
  readonly cost?: Argon2Cost;
}

/** Secrets in a file. */
export interface FileSecrets extends EncryptedSecrets {
  /**
   * Encrypts every secret anew, with other data keys, for another passphrase; whole or not at all. This store uses it from then on.
   * @throws AgentError CONFIG_INVALID, SECRET_UNREADABLE
   */
  changePassphrase(next: string): Promise<void>;
}

const saltBytes = 16;

/**
 * Opens, or prepares to make, the file, and checks the passphrase. Several processes may use it. A file whose key comes from scrypt opens, and its next change
 * encrypts it anew under Argon2id.
 * @throws AgentError SECRET_UNREADABLE for a wrong passphrase and for a damaged file, with `details.path`; CONFIG_INVALID, STORE_UNAVAILABLE
 */
export async function fileSecrets({ path, passphrase, cost = argon2Cost }: FileSecretsOptions): Promise<FileSecrets> {
  const file = new SecretFile(path);
  const keys = new PassphraseKeys(file, passphrase);
  const { header } = await file.content();
  // Without a file the salt is drawn now; the first write puts it into the header, unless another process was first.
  if (header) await keys.use(header);
  else await keys.begin(cost);
  const secrets = createSecrets({ storage: file.storage(() => keys.header), keys });
  return {
    get: (scope, name) => secrets.get(scope, name),
    async set(scope, name, value) {
      checkSecret(scope, name, value);
      await keys.modernise(cost);
      await secrets.set(scope, name, value);
    },
    async remove(scope, name) {
      checkSecret(scope, name);
      await keys.modernise(cost);
      return secrets.remove(scope, name);
    },
    names: (scope) => secrets.names(scope),
    rewrap: () => secrets.rewrap(),
    changePassphrase: (next) => keys.change(next, cost),
  };
}

/** The keys of the file's passphrase. Another process may have made the file, or changed its passphrase, meanwhile. */
class PassphraseKeys implements KeyRing {
  readonly #file: SecretFile;
  #passphrase: string;
  #current: MasterKey | undefined;
  #header: FileHeader | undefined;
  /** Those that the file had while this store was open: what was read just before a change is opened just after it. */
  readonly #known = new Map<string, MasterKey>();

  constructor(file: SecretFile, passphrase: string) {
    this.#file = file;
    this.#passphrase = passphrase;
  }

  get currentId(): string {
    return this.#current?.id ?? "";
  }

  get header(): FileHeader {
    if (!this.#header) throw new Error("The header of the file is read before it is used.");
    return this.#header;
  }

  async use(header: FileHeader): Promise<void> {
    this.#adopt(header, await this.#keyOf(header));
  }

  async begin(cost: Argon2Cost): Promise<void> {
    const { header, key } = await newHeader(this.#passphrase, cost);
    this.#adopt(header, key);
  }

  async wrap(dataKey: Uint8Array, context: string): ReturnType<KeyRing["wrap"]> {
    await this.#refresh();
    return this.#ring().wrap(dataKey, context);
  }

  /** The file is looked at only where its key is not known yet. */
  async unwrap(...[wrapped, context]: Parameters<KeyRing["unwrap"]>): Promise<Uint8Array> {
    if (!this.#known.has(wrapped.masterId)) await this.#refresh();
    return this.#ring().unwrap(wrapped, context);
  }

  /** Encrypts a file of the older derivation anew, for the same passphrase. */
  async modernise(cost: Argon2Cost): Promise<void> {
    const { header } = await this.#file.content();
    if (header?.kdf === "scrypt") await this.change(this.#passphrase, cost);
  }

  async change(next: string, cost: Argon2Cost): Promise<void> {
    const { header, key } = await newHeader(next, cost);
    // Before the file has it: a read beside the change may meet it first.
    this.#known.set(key.id, key);
    await this.#file.replace(async (content) => {
      const fresh = memoryStorage();
      if (content.header) await copySecrets(content, { from: masterKeys(await this.#keyOf(content.header)), to: masterKeys(key), fresh });
      return { header, scopes: await contentOf(fresh, content) };
    });
    this.#passphrase = next;
    this.#adopt(header, key);
  }

  #adopt(header: FileHeader, key: MasterKey): void {
    this.#known.set(key.id, key);
    this.#current = key;
    this.#header = header;
  }

  #ring(): KeyRing {
    if (!this.#current) throw new Error("The header of the file is read before it is used.");
    return masterKeys(this.#current, [...this.#known.values()]);
  }

  /** Takes over the header that the file has now. */
  async #refresh(): Promise<void> {
    const { header } = await this.#file.content();
    if (header && header.keyId !== this.#header?.keyId) await this.use(header);
  }

  async #keyOf(header: FileHeader): Promise<MasterKey> {
    const { salt, keyId } = header;
    const known = this.#known.get(keyId);
    if (known) return known;
    const { path } = this.#file;
    if (!isAffordable(header)) throw refused(path, "its header has costs that this version does not take");
    const key = await passphraseKey(this.#passphrase, Buffer.from(salt, "base64"), header);
    if (key.id !== keyId) throw refused(path, "the passphrase is wrong");
    return key;
  }
}

/** Every secret of the file, encrypted under other keys, in the fresh storage. */
async function copySecrets(
  content: FileContent,
  { from, to, fresh }: { readonly from: KeyRing; readonly to: KeyRing; readonly fresh: SecretStorage },
): Promise<void> {
  const before = createSecrets({ storage: storedIn(content), keys: from });
  const after = createSecrets({ storage: fresh, keys: to });
  for (const scope of Object.keys(content.scopes)) {
    for (const name of await before.names(scope)) {
      const value = await before.get(scope, name);
      if (value !== undefined) await after.set(scope, name, value);
    }
  }
}

async function newHeader(passphrase: string, cost: Argon2Cost): Promise<{ readonly header: FileHeader; readonly key: MasterKey }> {
  const salt = randomBytes(saltBytes);
  const derivation = { kdf: "argon2id", ...cost } as const;
  const key = await passphraseKey(passphrase, salt, derivation);
  return { key, header: { format: 1, ...derivation, salt: salt.toString("base64"), keyId: key.id } };
}

function refused(path: string, why: string): AgentError {
  return new AgentError("SECRET_UNREADABLE", {
    message: `The file of secrets ${JSON.stringify(path)} cannot be opened: ${why}.`,
    fix: "Check the passphrase; if it is right, restore the file from a backup.",
    details: { path },
  });
}
