import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AgentError, isAgentError, type JsonObject } from "@loopwright/core";
import { encodedRecord, newRevision, recordsFull } from "../records/encoded-record.ts";
import {
  type RecordChange,
  type RecordKind,
  type RecordOwner,
  recordLimits,
  type StoredRecord,
  type UserRecords,
} from "../records/user-records.ts";

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
    revision TEXT NOT NULL DEFAULT 'first',
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
    // A file of a version without revisions.
    const columns = database.prepare("SELECT name FROM pragma_table_info('records')").all();
    if (!columns.some(({ name }) => name === "revision"))
      database.exec("ALTER TABLE records ADD COLUMN revision TEXT NOT NULL DEFAULT 'first'");
    return database;
  });
}

class RecordsInSqlite implements SqliteRecords {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async get({ scope, user }: RecordOwner, kind: RecordKind, id: string): Promise<StoredRecord | undefined> {
    return guarded(() => {
      const row = this.#database.prepare(`SELECT id, value, revision FROM records WHERE ${ofOwner} AND id = ?`).get(scope, user, kind, id);
      return row && stored(row);
    });
  }

  async list({ scope, user }: RecordOwner, kind: RecordKind): Promise<readonly StoredRecord[]> {
    return guarded(() => {
      const rows = this.#database
        .prepare(`SELECT id, value, revision FROM records WHERE ${ofOwner} ORDER BY number`)
        .all(scope, user, kind);
      return rows.map(stored);
    });
  }

  async put({ scope, user }: RecordOwner, kind: RecordKind, { id, value, expected }: RecordChange): Promise<string | undefined> {
    const text = encodedRecord(value);
    const revision = newRevision();
    const database = this.#database;
    const store = (): string | undefined => {
      const row = database.prepare(`SELECT revision FROM records WHERE ${ofOwner} AND id = ?`).get(scope, user, kind, id);
      if (expected !== undefined && (row?.["revision"] ?? null) !== expected) return undefined;
      if (row)
        database
          .prepare(`UPDATE records SET value = ?, revision = ? WHERE ${ofOwner} AND id = ?`)
          .run(text, revision, scope, user, kind, id);
      else {
        const held = database.prepare(`SELECT count(*) AS held FROM records WHERE ${ofOwner}`).get(scope, user, kind)?.["held"];
        if (Number(held) >= recordLimits.perKindMax) throw recordsFull();
        database
          .prepare("INSERT INTO records (scope, user, kind, id, value, revision) VALUES (?, ?, ?, ?, ?, ?)")
          .run(scope, user, kind, id, text, revision);
      }
      return revision;
    };
    return guarded(() => {
      database.exec("BEGIN IMMEDIATE");
      try {
        const made = store();
        database.exec("COMMIT");
        return made;
      } catch (error) {
        database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  async remove(
    { scope, user }: RecordOwner,
    kind: RecordKind,
    { id, expected = null }: { readonly id: string; readonly expected?: string | null },
  ): Promise<boolean> {
    return guarded(() => {
      const { changes } = this.#database
        .prepare(`DELETE FROM records WHERE ${ofOwner} AND id = ? AND (? IS NULL OR revision = ?)`)
        .run(scope, user, kind, id, expected, expected);
      return Number(changes) === 1;
    });
  }

  close(): void {
    this.#database.close();
  }
}

function stored(row: Readonly<Record<string, unknown>>): StoredRecord {
  return { id: String(row["id"]), value: JSON.parse(String(row["value"])) as JsonObject, revision: String(row["revision"]) };
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
