import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AgentError, isAgentError } from "@loopwright/core";
import { createSecrets, type EncryptedSecrets } from "../create-secrets.ts";
import type { KeyRing } from "../key-ring.ts";
import type { ScopeHead, ScopeRead, ScopeWrite, SecretStorage } from "../storage/secret-storage.ts";

export interface SqliteSecretsOptions {
  /** The file; it is made where it is missing, and so is its folder. Only this user may read it. */
  readonly path: string;
  readonly keys: KeyRing;
  /** Milliseconds that a call waits, with this process, for one that writes the same file. Default 5,000. */
  readonly busyTimeoutMs?: number;
}

/** A store that holds a file open. */
export interface SqliteSecrets extends EncryptedSecrets {
  close(): void;
}

const schema = `
  CREATE TABLE IF NOT EXISTS scopes (
    scope TEXT PRIMARY KEY, revision INTEGER NOT NULL, masterId TEXT NOT NULL, wrapped BLOB NOT NULL, seal BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS records (
    scope TEXT NOT NULL, name TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (scope, name)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * Encrypted secrets in one SQLite file, which several processes may use. Values are encrypted; names are not.
 * @throws AgentError STORE_UNAVAILABLE when the file cannot be opened
 */
export function sqliteSecrets(options: SqliteSecretsOptions): SqliteSecrets {
  const database = open(options);
  const secrets = createSecrets({ storage: new SqliteStorage(database), keys: options.keys });
  return {
    get: (scope, name) => secrets.get(scope, name),
    set: (scope, name, value) => secrets.set(scope, name, value),
    remove: (scope, name) => secrets.remove(scope, name),
    names: (scope) => secrets.names(scope),
    rewrap: () => secrets.rewrap(),
    close: () => database.close(),
  };
}

function open({ path, busyTimeoutMs = 5_000 }: SqliteSecretsOptions): DatabaseSync {
  try {
    if (path !== ":memory:") {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      closeSync(openSync(path, "a", 0o600));
      chmodSync(path, 0o600);
    }
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    // The write-ahead log takes the mode of the file; deleted records are overwritten.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;");
    database.exec(schema);
    return database;
  } catch (cause) {
    throw unavailable("The file of the secrets could not be opened.", cause);
  }
}

class SqliteStorage implements SecretStorage {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async read(scope: string, name?: string): Promise<ScopeRead> {
    return this.#run("BEGIN", () => {
      const head = this.#database.prepare("SELECT revision, masterId, wrapped, seal FROM scopes WHERE scope = ?").get(scope);
      const record =
        name === undefined ? undefined : this.#database.prepare("SELECT bytes FROM records WHERE scope = ? AND name = ?").get(scope, name);
      return { ...(head ? { head: headOf(head) } : {}), ...(record ? { record: bytesOf(record["bytes"]) } : {}) };
    });
  }

  async write(scope: string, { expected, head, record }: ScopeWrite): Promise<boolean> {
    return this.#run("BEGIN IMMEDIATE", () => {
      const database = this.#database;
      const found = database.prepare("SELECT revision FROM scopes WHERE scope = ?").get(scope);
      if (Number(found?.["revision"] ?? 0) !== expected) return false;
      const { revision, key, seal } = head;
      database
        .prepare("INSERT OR REPLACE INTO scopes (scope, revision, masterId, wrapped, seal) VALUES (?, ?, ?, ?, ?)")
        .run(scope, revision, key.masterId, key.bytes, seal);
      if (record?.bytes)
        database.prepare("INSERT OR REPLACE INTO records (scope, name, bytes) VALUES (?, ?, ?)").run(scope, record.name, record.bytes);
      else if (record) database.prepare("DELETE FROM records WHERE scope = ? AND name = ?").run(scope, record.name);
      return true;
    });
  }

  async scopes(): Promise<readonly string[]> {
    return this.#run("BEGIN", () =>
      this.#database
        .prepare("SELECT scope FROM scopes ORDER BY scope")
        .all()
        .map((row) => String(row["scope"])),
    );
  }

  /** All of it or nothing, on one state of the file. */
  #run<T>(begin: string, work: () => T): T {
    try {
      this.#database.exec(begin);
      try {
        const result = work();
        this.#database.exec("COMMIT");
        return result;
      } catch (error) {
        this.#database.exec("ROLLBACK");
        throw error;
      }
    } catch (cause) {
      throw isAgentError(cause) ? cause : unavailable("The file of the secrets could not be read or written.", cause);
    }
  }
}

type Row = Readonly<Record<string, unknown>>;

function headOf(row: Row): ScopeHead {
  const key = { masterId: String(row["masterId"]), bytes: bytesOf(row["wrapped"]) };
  return { revision: Number(row["revision"]), key, seal: bytesOf(row["seal"]) };
}

const bytesOf = (value: unknown): Uint8Array => (value instanceof Uint8Array ? value : new Uint8Array());

function unavailable(message: string, cause: unknown): AgentError {
  return new AgentError("STORE_UNAVAILABLE", { message, fix: "Check the path, its permissions and the disk.", cause });
}
