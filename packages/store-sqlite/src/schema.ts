import type { DatabaseSync } from "node:sqlite";

/** "LpWr": marks the file as a store of Loopwright. */
export const applicationId = 0x4c_70_57_72;

/** Numbers of facts go up to 2^30 - 1; the key of a session stands above them. */
export const seqLimit: number = 2 ** 30;

/** The index of words as the first versions had it, for all scopes together. */
const firstWords =
  "CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2')";

/**
 * The index of words: holds no text, only where which word stands. `owner` holds two words that no text has in that column, the scope and the
 * session as `ownerWords` makes them: a search passes by what belongs to others.
 */
export function wordsTable(name: string): string {
  return `CREATE VIRTUAL TABLE ${name} USING fts5(text, owner, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2')`;
}

/** The words of the index of words, of the file or of the tables in memory that hide it. It keeps nothing of its own. */
export function wordListTable(of: "main" | "temp"): string {
  return `CREATE VIRTUAL TABLE IF NOT EXISTS temp.word_list USING fts5vocab(${of}, words, instance)`;
}

/*
 * A fact's row id is `session key * 2^30 + seq`: one tree in the order of reading, no second index to write.
 * `chain` is the CRC-32 of the body, begun with the chain of the fact before: a changed, lost, moved or foreign fact shows.
 * A removed session keeps its row, so that its id is never used again.
 * Summaries, texts and words are projections; they may be emptied at any time.
 */
const firstVersion = `
CREATE TABLE sessions (
  key INTEGER PRIMARY KEY,
  scope TEXT NOT NULL,
  id TEXT NOT NULL,
  last_seq INTEGER NOT NULL DEFAULT 0,
  chain INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL DEFAULT 0,
  closed INTEGER NOT NULL DEFAULT 0,
  removed INTEGER NOT NULL DEFAULT 0,
  indexed_seq INTEGER NOT NULL DEFAULT 0,
  epoch INTEGER NOT NULL DEFAULT 0,
  lease_node TEXT,
  lease_until INTEGER,
  lease_ms INTEGER,
  lease_owner TEXT,
  UNIQUE (scope, id)
) STRICT;
CREATE TABLE facts (id INTEGER PRIMARY KEY, body TEXT NOT NULL, chain INTEGER NOT NULL) STRICT;
CREATE TABLE batches (session INTEGER NOT NULL, batch TEXT NOT NULL, last_seq INTEGER NOT NULL, PRIMARY KEY (session, batch)) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (scope TEXT NOT NULL, key TEXT NOT NULL, media_type TEXT, bytes BLOB NOT NULL, PRIMARY KEY (scope, key)) STRICT;
CREATE TABLE drafts (scope TEXT NOT NULL, session TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (scope, session, name)) STRICT;
CREATE TABLE summaries (session INTEGER PRIMARY KEY, seq INTEGER NOT NULL, value TEXT NOT NULL) STRICT;
CREATE TABLE texts (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT;
CREATE INDEX texts_of_session ON texts (session, seq);
${firstWords};
CREATE VIEW log AS SELECT scope, sessions.id AS session, facts.id & 1073741823 AS seq, body FROM facts JOIN sessions ON sessions.key = facts.id >> 30;
`;

/** The facts of a session with their kinds; those that are no JSON have none. */
const kinds = `SELECT facts.id AS id, json_extract(body, '$.type') AS kind, json_extract(body, '$.runId') AS run FROM facts
  WHERE facts.id > key * ${seqLimit} AND facts.id <= key * ${seqLimit} + last_seq AND json_valid(body)`;

/*
 * `due`: when the session needs an owner, milliseconds since the epoch; null: not before the next append. Older sessions that may owe
 * something get 0: those whose last fact of weight does not end a run, and those with an input that no run has taken up.
 */
const dueColumn = `
ALTER TABLE sessions ADD COLUMN due INTEGER;
CREATE INDEX sessions_due ON sessions (due, scope, id) WHERE due IS NOT NULL;
UPDATE sessions SET due = 0 WHERE closed = 0 AND removed = 0 AND last_seq > 0 AND (
  (SELECT kind FROM (${kinds}) WHERE kind NOT IN ('session.opened', 'session.changed', 'head.moved', 'owner.claimed') ORDER BY id DESC LIMIT 1) <> 'run.finished'
  OR (SELECT count(DISTINCT run) FROM (${kinds}) WHERE kind = 'input.accepted') > (SELECT count(DISTINCT run) FROM (${kinds}) WHERE kind = 'run.started')
);
`;

/** `damage`: what was seen to be wrong with the log, in words; null: nothing. Then nothing more is written to it. */
const damageColumn = "ALTER TABLE sessions ADD COLUMN damage TEXT";

/*
 * `owned_blobs`: values that belong to sessions, one for each owner; those of the scope stay in `blobs`. `removed`: 0, or how far the erasure
 * of a removed session has come (see `erase-traces.ts`).
 */
const ownedBlobs = `
CREATE TABLE owned_blobs (scope TEXT NOT NULL, session TEXT NOT NULL, key TEXT NOT NULL, media_type TEXT, bytes BLOB NOT NULL, PRIMARY KEY (scope, session, key)) STRICT;
CREATE INDEX owned_blobs_by_key ON owned_blobs (scope, key);
CREATE INDEX sessions_in_erasure ON sessions (removed) WHERE removed > 1;
`;

/*
 * What a page of a list, a search or a sweep reads, and nothing beside it (decision 0050): sessions by their last change; those whose texts are not
 * all in the index of words; those with a date that no lease holds; those that one holds, by its owner. The words are indexed anew, in steps.
 */
const boundedPages = `
DROP TABLE words;
${wordsTable("words")};
DELETE FROM texts;
UPDATE sessions SET indexed_seq = 0 WHERE indexed_seq > 0;
CREATE INDEX sessions_recent ON sessions (scope, updated_at, id) WHERE removed = 0 AND last_seq > 0;
CREATE INDEX sessions_unindexed ON sessions (scope) WHERE indexed_seq < last_seq;
DROP INDEX sessions_due;
CREATE INDEX sessions_free ON sessions (due, scope, id) WHERE due IS NOT NULL AND lease_node IS NULL;
CREATE INDEX sessions_held ON sessions (lease_owner, lease_until) WHERE due IS NOT NULL AND lease_node IS NOT NULL;
CREATE INDEX sessions_renewed ON sessions (lease_until - lease_ms) WHERE due IS NOT NULL AND lease_node IS NOT NULL;
`;

/*
 * `parent`: the session whose run has started this one; null: none. A list is of one parent, or of none, so that it reads only what it shows.
 */
/** A claim of an owner may be before the fact that opens a session. */
const parentOfFacts = `(SELECT json_extract(body, '$.parent.session') FROM main.facts
  WHERE facts.id > key * ${seqLimit} AND facts.id <= key * ${seqLimit} + 4 AND json_valid(body) AND json_extract(body, '$.type') = 'session.opened')`;
const parentColumn = `
ALTER TABLE sessions ADD COLUMN parent TEXT;
UPDATE sessions SET parent = ${parentOfFacts} WHERE removed = 0 AND last_seq > 0;
DELETE FROM summaries WHERE session IN (SELECT key FROM sessions WHERE parent IS NOT NULL);
DROP INDEX sessions_recent;
CREATE INDEX sessions_recent ON sessions (scope, parent, updated_at, id) WHERE removed = 0 AND last_seq > 0;
`;

/** What leads from version n to n + 1, at place n. A change of the tables appends one; nothing here is ever edited. */
const migrations: readonly string[] = [firstVersion, dueColumn, damageColumn, ownedBlobs, boundedPages, parentColumn];

/** Version of the tables that this build writes. */
export const schemaVersion: number = migrations.length;

/** The oldest version that can be read as it is, where the file cannot be written. */
export const readableVersion = 1;

/** What a file of an older version lacks for a read-only store, and the first version that has it: tables and views in memory. */
export const standIns: readonly { readonly before: number; readonly sql: string }[] = [
  { before: 4, sql: "CREATE TEMP TABLE IF NOT EXISTS owned_blobs (scope, session, key, media_type, bytes)" },
  { before: 6, sql: `CREATE TEMP VIEW IF NOT EXISTS sessions AS SELECT *, ${parentOfFacts} AS parent FROM main.sessions` },
];

/** Brings the tables from `version` to the newest, inside the caller's transaction. */
export function migrate(database: DatabaseSync, version: number): void {
  for (const step of migrations.slice(version)) database.exec(step);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}`);
}
