import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** How far the news of sessions were delivered to each target, over restarts. Values are kept as JSON. The news themselves are in the logs alone. */
export interface WebhookMemory {
  read(key: string): unknown;
  write(key: string, value: unknown): void;
  remove(key: string): void;
  close(): void;
}

const busyTimeoutMs = 5_000;

/** A memory in one SQLite file, for the user of the process alone. `:memory:` keeps nothing. */
export function openWebhookMemory(path: string): WebhookMemory {
  if (path !== ":memory:") {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, "a", 0o600));
  }
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  const select = database.prepare("SELECT value FROM entries WHERE key = ?");
  const upsert = database.prepare("INSERT INTO entries VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value");
  const remove = database.prepare("DELETE FROM entries WHERE key = ?");
  return {
    read(key) {
      const row = select.get(key);
      return row === undefined ? undefined : JSON.parse(String(row["value"]));
    },
    write: (key, value) => void upsert.run(key, JSON.stringify(value)),
    remove: (key) => void remove.run(key),
    close: () => database.close(),
  };
}
