/** The tables of a telemetry file. */
export const schema: { readonly version: number; readonly tables: string; readonly upgrades: { readonly [from: number]: string } } = {
  version: 2,
  upgrades: {
    // Which entries were forgotten before is not known; no older one is counted.
    1: `
ALTER TABLE event ADD COLUMN session TEXT NOT NULL DEFAULT '';
UPDATE event SET session = COALESCE(json_extract(data, '$.session'), '') WHERE stream = '_platform.ai.cache';
CREATE TABLE forgotten (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL) STRICT;
INSERT INTO forgotten (one, at) SELECT 1, MIN(at) FROM known_entry HAVING COUNT(*) > 0;
CREATE INDEX event_session ON event (stream, scope, session, at) WHERE session <> '';
`,
  },
  tables: `
CREATE TABLE IF NOT EXISTS event (
  stream TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL, scope TEXT NOT NULL, data TEXT NOT NULL, session TEXT NOT NULL DEFAULT '',
  UNIQUE (stream, key)
) STRICT;
CREATE INDEX IF NOT EXISTS event_at ON event (stream, at);
CREATE INDEX IF NOT EXISTS event_session ON event (stream, scope, session, at) WHERE session <> '';
CREATE TABLE IF NOT EXISTS forgotten (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS known_entry (id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS known_entry_at ON known_entry (at);
CREATE TABLE IF NOT EXISTS usage (
  day TEXT NOT NULL, scope TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
  calls INTEGER NOT NULL, input INTEGER NOT NULL, cacheRead INTEGER NOT NULL, cacheWrite INTEGER NOT NULL, output INTEGER NOT NULL,
  nanos INTEGER NOT NULL, unpricedCalls INTEGER NOT NULL,
  PRIMARY KEY (day, scope, user, agent, provider, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ledger_sum (name TEXT PRIMARY KEY, tokens INTEGER NOT NULL, nanos INTEGER NOT NULL, endsAt INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reservation (
  id TEXT PRIMARY KEY, tokens INTEGER NOT NULL, nanos INTEGER NOT NULL, sums TEXT NOT NULL, isOpen INTEGER NOT NULL, expiresAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS reservation_end ON reservation (expiresAt);
`,
};
