/** The tables of a telemetry file. */
export const schema: { readonly version: number; readonly tables: string } = {
  version: 1,
  tables: `
CREATE TABLE IF NOT EXISTS event (
  stream TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL, scope TEXT NOT NULL, data TEXT NOT NULL, UNIQUE (stream, key)
) STRICT;
CREATE INDEX IF NOT EXISTS event_at ON event (stream, at);
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
