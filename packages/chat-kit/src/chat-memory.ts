import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** What chats have to remember over restarts: which session a chat has, how far it was delivered, which people are linked. Values are kept as JSON. */
export interface ChatMemory {
  read(key: string): unknown;
  write(key: string, value: unknown): void;
  /** The value that is there then: an earlier one stays. */
  writeOnce(key: string, value: unknown): unknown;
  /** Removes an entry and returns it; `undefined`: there was none. Of several processes one alone gets it. */
  take(key: string): unknown;
  /** The entries whose key begins so, those written last first. */
  list(prefix: string, limit: number): readonly (readonly [key: string, value: unknown])[];
  close(): void;
}

const busyTimeoutMs = 5_000;
const inMemory = ":memory:";

/** A memory in one SQLite file, which several processes of a machine may use at once. `:memory:` keeps nothing. For the user of the process alone. */
export function openChatMemory(path: string): ChatMemory {
  if (path !== inMemory) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, "a", 0o600));
  }
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, written INTEGER NOT NULL) WITHOUT ROWID");
  // Each write asks for the newest one.
  database.exec("CREATE INDEX IF NOT EXISTS entries_written ON entries (written)");
  const newest = "(SELECT coalesce(max(written), 0) + 1 FROM entries)";
  const select = database.prepare("SELECT value FROM entries WHERE key = ?");
  const upsert = database.prepare(
    `INSERT INTO entries VALUES (?, ?, ${newest}) ON CONFLICT (key) DO UPDATE SET value = excluded.value, written = excluded.written`,
  );
  const insert = database.prepare(`INSERT INTO entries VALUES (?, ?, ${newest}) ON CONFLICT (key) DO NOTHING`);
  const remove = database.prepare("DELETE FROM entries WHERE key = ? RETURNING value");
  const range = database.prepare("SELECT key, value FROM entries WHERE substr(key, 1, ?) = ? ORDER BY written DESC LIMIT ?");
  const valueIn = (row: { readonly [column: string]: unknown } | undefined): unknown =>
    row === undefined ? undefined : JSON.parse(String(row["value"]));
  const read = (key: string): unknown => valueIn(select.get(key));
  return {
    read,
    write: (key, value) => void upsert.run(key, JSON.stringify(value)),
    writeOnce(key, value) {
      insert.run(key, JSON.stringify(value));
      return read(key) ?? value;
    },
    take: (key) => valueIn(remove.get(key)),
    list: (prefix, limit) => range.all(prefix.length, prefix, limit).map((row) => [String(row["key"]), valueIn(row)] as const),
    close: () => database.close(),
  };
}
