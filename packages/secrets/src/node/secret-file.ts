/*
 * Owns: the bytes of a file of secrets: read whole, replaced whole by a rename, by one writer at a time.
 * Does not own: what is encrypted in it and how.
 */
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { AgentError, isAgentError } from "@loopwright/core";
import type { ScopeHead, ScopeRead, SecretStorage } from "../storage/secret-storage.ts";
import { unreadable } from "../unreadable.ts";
import { withFileLock } from "./file-lock.ts";
import type { Derivation } from "./passphrase-key.ts";

/** How the key of the file comes from its passphrase. */
export type FileHeader = Derivation & {
  readonly format: 1;
  /** Base64. */
  readonly salt: string;
  /** The fingerprint of the key, so that a wrong passphrase is known as one. */
  readonly keyId: string;
};

interface FileScope {
  readonly head: ScopeHead;
  readonly records: Readonly<Record<string, Uint8Array>>;
}

export interface FileContent {
  /** Absent: there is no file yet. */
  readonly header?: FileHeader;
  readonly scopes: Readonly<Record<string, FileScope>>;
}

export class SecretFile {
  readonly path: string;
  #writes: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.path = path;
  }

  async content(): Promise<FileContent> {
    let text: string;
    try {
      text = await readFile(this.path, "utf8");
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return { scopes: {} };
      throw this.#unavailable("read", cause);
    }
    return decoded(text);
  }

  /** Replaces the file by what `change` makes of it; nothing else writes it meanwhile. Where it gives `undefined` the file stays. */
  replace(change: (content: FileContent) => Promise<FileContent | undefined>): Promise<boolean> {
    const write = this.#writes.then(() => this.#locked(change));
    this.#writes = write.catch(() => undefined);
    return write;
  }

  storage(headerOf: () => FileHeader): SecretStorage {
    return {
      read: async (scope, name) => readIn(await this.content(), scope, name),
      write: (scope, { expected, head, record }) =>
        this.replace(async ({ header, scopes }) => {
          const found = own(scopes, scope);
          const current = header ?? headerOf();
          // A file that another process began, or whose passphrase was changed meanwhile, has another key: what the old one wrapped could not be opened.
          if ((found?.head.revision ?? 0) !== expected || head.key.masterId !== current.keyId) return undefined;
          const { [record?.name ?? ""]: _, ...others } = found?.records ?? {};
          const records = record?.bytes ? { ...others, [record.name]: record.bytes } : record ? others : (found?.records ?? {});
          return { header: current, scopes: { ...scopes, [scope]: { head, records } } };
        }),
      scopes: async () => Object.keys((await this.content()).scopes).sort(),
    };
  }

  async #locked(change: (content: FileContent) => Promise<FileContent | undefined>): Promise<boolean> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
      throw this.#unavailable("written", cause);
    });
    try {
      return await withFileLock(`${this.path}.lock`, async () => {
        const changed = await change(await this.content());
        if (changed) await this.#write(encoded(changed));
        return changed !== undefined;
      });
    } catch (cause) {
      throw isAgentError(cause) ? cause : this.#unavailable("written", cause);
    }
  }

  async #write(text: string): Promise<void> {
    // One name is enough: only the holder of the lock writes it, and what a crash left of it is overwritten.
    const fresh = `${this.path}.new`;
    const handle = await open(fresh, "w", 0o600);
    try {
      await handle.chmod(0o600);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, this.path);
    const folder = await open(dirname(this.path), "r");
    await folder.sync().finally(() => folder.close());
  }

  #unavailable(what: string, cause: unknown): AgentError {
    return new AgentError("STORE_UNAVAILABLE", {
      message: `The file of secrets ${JSON.stringify(this.path)} could not be ${what}.`,
      fix: "Check the path, its permissions and the disk.",
      cause,
    });
  }
}

/** What a file holds as a storage that takes no writes. */
export function storedIn(content: FileContent): SecretStorage {
  return {
    read: async (scope, name) => readIn(content, scope, name),
    write: async () => false,
    scopes: async () => Object.keys(content.scopes).sort(),
  };
}

/** What a storage holds of the names that the content has, as the scopes of a file. A scope that lost its last secret is left out. */
export async function contentOf(storage: SecretStorage, { scopes }: FileContent): Promise<FileContent["scopes"]> {
  const found: Record<string, FileScope> = {};
  for (const scope of await storage.scopes()) {
    const { head } = await storage.read(scope);
    if (!head) continue;
    const records: Record<string, Uint8Array> = {};
    for (const name of Object.keys(own(scopes, scope)?.records ?? {})) {
      const { record } = await storage.read(scope, name);
      if (record) records[name] = record;
    }
    found[scope] = { head, records };
  }
  return found;
}

function readIn({ scopes }: FileContent, scope: string, name: string | undefined): ScopeRead {
  const found = own(scopes, scope);
  const record = name === undefined || !found ? undefined : own(found.records, name);
  return { ...(found ? { head: found.head } : {}), ...(record ? { record } : {}) };
}

function encoded({ header, scopes }: FileContent): string {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
  const rows = Object.entries(scopes).map(([scope, { head, records }]) => ({
    scope,
    revision: head.revision,
    masterId: head.key.masterId,
    wrapped: text(head.key.bytes),
    seal: text(head.seal),
    records: Object.fromEntries(Object.entries(records).map(([name, bytes]) => [name, text(bytes)])),
  }));
  return `${JSON.stringify({ ...header, scopes: rows }, null, 1)}\n`;
}

/** @throws AgentError SECRET_UNREADABLE */
function decoded(text: string): FileContent {
  try {
    const { scopes: rows, ...header } = JSON.parse(text) as FileHeader & { readonly scopes: readonly FileRow[] };
    if (header.format !== 1 || typeof header.salt !== "string" || typeof header.keyId !== "string") throw new Error("another format");
    const bytes = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, "base64"));
    const scopes = rows.map(({ scope, revision, masterId, wrapped, seal, records }): [string, FileScope] => [
      scope,
      {
        head: { revision, key: { masterId, bytes: bytes(wrapped) }, seal: bytes(seal) },
        records: Object.fromEntries(Object.entries(records).map(([name, each]) => [name, bytes(each)])),
      },
    ]);
    return { header, scopes: Object.fromEntries(scopes) };
  } catch (cause) {
    throw unreadable("the file is damaged or not a file of secrets", cause);
  }
}

interface FileRow {
  readonly scope: string;
  readonly revision: number;
  readonly masterId: string;
  readonly wrapped: string;
  readonly seal: string;
  readonly records: Readonly<Record<string, string>>;
}

const own = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
