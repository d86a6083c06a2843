/** One row for each session, its facts, its batch ids and what is stored beside it. `due`, `lease_until` and `updated_at` are milliseconds since the epoch. */
export const schema = `
  CREATE TABLE IF NOT EXISTS sessions (
    scope TEXT NOT NULL, id TEXT NOT NULL,
    last_seq INTEGER NOT NULL DEFAULT 0, epoch INTEGER NOT NULL DEFAULT 0,
    node TEXT, lease_until INTEGER, due INTEGER,
    state TEXT NOT NULL DEFAULT 'open',
    updated_at INTEGER, projection TEXT, parent TEXT,
    PRIMARY KEY (scope, id)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS due_sessions ON sessions (due, scope, id) WHERE due IS NOT NULL;
  CREATE INDEX IF NOT EXISTS recent_sessions ON sessions (scope, parent, updated_at, id) WHERE updated_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS facts (
    scope TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (scope, session, seq)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS batches (
    scope TEXT NOT NULL, session TEXT NOT NULL, id TEXT NOT NULL, last_seq INTEGER NOT NULL,
    PRIMARY KEY (scope, session, id)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS blobs (
    scope TEXT NOT NULL, key TEXT NOT NULL, owner TEXT NOT NULL, bytes BLOB NOT NULL, media_type TEXT,
    PRIMARY KEY (scope, key, owner)
  );
  CREATE INDEX IF NOT EXISTS owned_blobs ON blobs (scope, owner);
  CREATE TABLE IF NOT EXISTS snapshots (
    scope TEXT NOT NULL, session TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (scope, session, name)
  ) WITHOUT ROWID;
`;
