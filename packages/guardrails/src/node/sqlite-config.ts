import { randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AgentError, isAgentError } from "@loopwright/core";
import { checkEntry } from "../source/check-entry.ts";
import type { ConfigStore } from "../source/policy-source.ts";

export interface SqliteConfigOptions {
  /** The file; it is made where it is missing, and so is its folder, for this user's eyes only. `:memory:`: none. */
  readonly path: string;
  /** Milliseconds that a call waits, with this process, for one that writes the same file. Default 5,000. */
  readonly busyTimeoutMs?: number;
}

/** Entries in a file that is held open. */
export interface SqliteConfig extends ConfigStore {
  close(): void;
}

const schema = "CREATE TABLE IF NOT EXISTS config (key TEXT PRIMARY KEY, text TEXT NOT NULL, revision TEXT NOT NULL) STRICT;";

/** Entries in one SQLite file, which several processes may use. @throws AgentError STORE_UNAVAILABLE when it cannot be opened */
export function sqliteConfig({ path, busyTimeoutMs = 5_000 }: SqliteConfigOptions): SqliteConfig {
  const database = guarded(() => {
    if (path !== ":memory:") {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      closeSync(openSync(path, "a", 0o600));
    }
    const opened = new DatabaseSync(path, { timeout: busyTimeoutMs });
    opened.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${schema}`);
    return opened;
  });
  const put = (
    key: string,
    { text, expected }: { readonly text: string; readonly expected: string | null | undefined },
  ): string | undefined => {
    const revision = randomUUID();
    database.exec("BEGIN IMMEDIATE");
    try {
      const now = database.prepare("SELECT revision FROM config WHERE key = ?").get(key)?.["revision"] ?? null;
      const isExpected = expected === undefined || now === expected;
      if (isExpected) database.prepare("INSERT OR REPLACE INTO config (key, text, revision) VALUES (?, ?, ?)").run(key, text, revision);
      database.exec("COMMIT");
      return isExpected ? revision : undefined;
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  };
  return {
    async get(key) {
      const row = guarded(() => database.prepare("SELECT text, revision FROM config WHERE key = ?").get(key));
      return row && { text: String(row["text"]), revision: String(row["revision"]) };
    },
    async put(key, text, { expected } = {}) {
      checkEntry(key, text);
      return guarded(() => put(key, { text, expected }));
    },
    delete: async (key) => guarded(() => database.prepare("DELETE FROM config WHERE key = ?").run(key).changes > 0),
    close: () => database.close(),
  };
}

/** @throws AgentError STORE_UNAVAILABLE */
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (isAgentError(cause)) throw cause;
    throw new AgentError("STORE_UNAVAILABLE", { message: "The configuration on SQLite cannot be used.", cause });
  }
}
