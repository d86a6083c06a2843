import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AgentError, isAgentError, type JsonObject } from "@loopwright/core";
import { encodedRecord, recordsFull } from "../records/encoded-record.ts";
import { type RecordKind, type RecordOwner, recordLimits, type UserRecord, type UserRecords } from "../records/user-records.ts";

export interface SqliteRecordsOptions {
  /** The file; it is made where it is missing, and so is its folder, for this user's eyes only. `:memory:`: none. */
  readonly path: string;
  /** Milliseconds that a call waits, with this process, for one that writes the same file. Default 5,000. */
  readonly busyTimeoutMs?: number;
}

/** Entries in a file that is held open. */
export interface SqliteRecords extends UserRecords {
  close(): void;
}

const schema = `
  CREATE TABLE IF NOT EXISTS records (
    number INTEGER PRIMARY KEY, scope TEXT NOT NULL, user TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, value TEXT NOT NULL,
    UNIQUE (scope, user, kind, id)
  ) STRICT;
`;
const ofOwner = "scope = ? AND user = ? AND kind = ?";

/** Entries of users in one SQLite file, which several processes may use. @throws AgentError STORE_UNAVAILABLE when it cannot be opened */
export function sqliteRecords(options: SqliteRecordsOptions): SqliteRecords {
  return new RecordsInSqlite(open(options));
}

function open({ path, busyTimeoutMs = 5_000 }: SqliteRecordsOptions): DatabaseSync {
  return guarded(() => {
    if (path !== ":memory:") {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      closeSync(openSync(path, "a", 0o600));
    }
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;");
    database.exec(schema);
    return database;
  });
}

class RecordsInSqlite implements SqliteRecords {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async get({ scope, user }: RecordOwner, kind: RecordKind, id: string): Promise<JsonObject | undefined> {
    return guarded(() => {
      const row = this.#database.prepare(`SELECT value FROM records WHERE ${ofOwner} AND id = ?`).get(scope, user, kind, id);
      return row && (JSON.parse(String(row["value"])) as JsonObject);
    });
  }

  async list({ scope, user }: RecordOwner, kind: RecordKind): Promise<readonly UserRecord[]> {
    return guarded(() => {
      const rows = this.#database.prepare(`SELECT id, value FROM records WHERE ${ofOwner} ORDER BY number`).all(scope, user, kind);
      return rows.map((row) => ({ id: String(row["id"]), value: JSON.parse(String(row["value"])) as JsonObject }));
    });
  }

  async put({ scope, user }: RecordOwner, kind: RecordKind, { id, value }: UserRecord): Promise<void> {
    const text = encodedRecord(value);
    guarded(() => {
      const database = this.#database;
      database.exec("BEGIN IMMEDIATE");
      try {
        const changed = database.prepare(`UPDATE records SET value = ? WHERE ${ofOwner} AND id = ?`).run(text, scope, user, kind, id);
        if (Number(changed.changes) === 0) {
          const held = database.prepare(`SELECT count(*) AS held FROM records WHERE ${ofOwner}`).get(scope, user, kind)?.["held"];
          if (Number(held) >= recordLimits.perKindMax) throw recordsFull();
          database.prepare("INSERT INTO records (scope, user, kind, id, value) VALUES (?, ?, ?, ?, ?)").run(scope, user, kind, id, text);
        }
        database.exec("COMMIT");
      } catch (error) {
        database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  async remove({ scope, user }: RecordOwner, kind: RecordKind, id: string): Promise<boolean> {
    return guarded(() => {
      const { changes } = this.#database.prepare(`DELETE FROM records WHERE ${ofOwner} AND id = ?`).run(scope, user, kind, id);
      return Number(changes) === 1;
    });
  }

  close(): void {
    this.#database.close();
  }
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (isAgentError(cause)) throw cause;
    throw new AgentError("STORE_UNAVAILABLE", {
      message: "The file of the users' settings could not be read or written.",
      fix: "Check its path, its permissions and the disk.",
      cause,
    });
  }
}
