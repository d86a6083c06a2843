import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { AgentError } from "@loopwright/core";

/** Columns of a row as the engine gives them. */
export interface Row {
  readonly [column: string]: unknown;
}

/** An open file of knowledge, its statements each prepared once. */
export interface SqliteFile {
  one(sql: string, ...values: readonly SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: readonly SQLInputValue[]): readonly Row[];
  run(sql: string, ...values: readonly SQLInputValue[]): void;
  /** Returns the key of the row. */
  insert(sql: string, ...values: readonly SQLInputValue[]): number;
  transaction<Result>(work: () => Result): Result;
  close(): void;
}

const memory = ":memory:";
const schemaVersion = 1;
/** "LWKn": the mark of these files. */
const applicationId = 0x4c574b6e;

/** The index of words holds the key of the place as a word of its own, so that a search passes by what other scopes have. */
const schema = `
CREATE TABLE places (key INTEGER PRIMARY KEY, scope TEXT NOT NULL, collection TEXT NOT NULL, UNIQUE (scope, collection));
CREATE TABLE documents (key INTEGER PRIMARY KEY, place INTEGER NOT NULL REFERENCES places, id TEXT NOT NULL, title TEXT NOT NULL, kind TEXT NOT NULL,
  embedding TEXT, passages INTEGER NOT NULL, UNIQUE (place, id));
CREATE TABLE passages (key INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents, idx INTEGER NOT NULL, text TEXT NOT NULL, vector BLOB);
CREATE INDEX passages_document ON passages (document, idx);
CREATE VIRTUAL TABLE index_words USING fts5(place, words, tokenize='unicode61 remove_diacritics 0');
INSERT INTO index_words (index_words, rank) VALUES ('secure-delete', 1);
PRAGMA application_id = ${applicationId};
PRAGMA user_version = ${schemaVersion};
`;

/** Opens the file, for this user's eyes only, and makes its tables where there are none. @throws AgentError STORE_CORRUPT, STORE_TOO_NEW; errors of the engine */
export async function openKnowledgeFile(path: string, busyTimeoutMs: number): Promise<SqliteFile> {
  const { DatabaseSync } = await import("node:sqlite");
  if (path !== memory) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, "a", 0o600));
  }
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON`);
    const file = fileOf(database);
    makeTables(file, { database, path });
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY");
    return file;
  } catch (error) {
    database.close();
    throw error;
  }
}

function makeTables(file: SqliteFile, { database, path }: { readonly database: DatabaseSync; readonly path: string }): void {
  file.transaction(() => {
    const numberOf = (pragma: string): number => Number(Object.values(file.one(`PRAGMA ${pragma}`) ?? {})[0]);
    const [application, version] = [numberOf("application_id"), numberOf("user_version")];
    const isEmpty = application === 0 && version === 0 && file.one("SELECT 1 FROM sqlite_schema LIMIT 1") === undefined;
    if (isEmpty) database.exec(schema);
    else if (application !== applicationId)
      throw new AgentError("STORE_CORRUPT", { message: `The file ${path} is a database of another program.`, fix: "Name another file." });
    else if (version > schemaVersion)
      throw new AgentError("STORE_TOO_NEW", {
        message: `The file ${path} has version ${version}; this build knows version ${schemaVersion}.`,
      });
  });
}

function fileOf(database: DatabaseSync): SqliteFile {
  const prepared = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  const write = (sql: string, values: readonly SQLInputValue[]): ReturnType<StatementSync["run"]> => {
    const statement = prepare(sql);
    // A write into a full-text table leaves a last row id beyond 2^53, on which node:sqlite throws.
    statement.setReadBigInts(true);
    return statement.run(...values);
  };
  return {
    one: (sql, ...values) => prepare(sql).get(...values),
    all: (sql, ...values) => prepare(sql).all(...values),
    run: (sql, ...values) => void write(sql, values),
    insert: (sql, ...values) => Number(write(sql, values).lastInsertRowid),
    transaction(work) {
      database.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        // The engine may have ended the transaction by itself.
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => database.close(),
  };
}
