import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { AgentError } from "@loopwright/core";
import { searchWords } from "@loopwright/core/stores";
import { type Memory, type MemoryOwner, type MemoryStore, memoryLimits } from "../memory-store.ts";
import { memoryFull, queryWords, rankMemories } from "../rank-memories.ts";

export interface SqliteMemoryOptions {
  /** The file; it is made where it is missing, its folder is not. `:memory:`: none. */
  readonly path: string;
  /** Milliseconds that a call waits, with this process, for one that writes the same file. Default 5,000. */
  readonly busyTimeoutMs?: number;
}

/** A store that holds a file open. */
export interface SqliteMemory extends MemoryStore {
  close(): void;
}

const schema = `
  CREATE TABLE IF NOT EXISTS memories (
    number INTEGER PRIMARY KEY, owner TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, createdAt INTEGER NOT NULL, sessionId TEXT NOT NULL,
    UNIQUE (owner, id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS newest ON memories (owner, createdAt DESC, id);
  CREATE VIRTUAL TABLE IF NOT EXISTS memoryWords USING fts5(words, owner, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0');
`;
const columns = "number, id, text, createdAt, sessionId";

/**
 * Facts in one SQLite file, found by full-text search (FTS5). Several processes may use it.
 * @throws AgentError STORE_UNAVAILABLE when the file cannot be opened
 */
export function sqliteMemory(options: SqliteMemoryOptions): SqliteMemory {
  return new SqliteMemoryStore(open(options));
}

function open({ path, busyTimeoutMs = 5_000 }: SqliteMemoryOptions): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;");
    database.exec(schema);
    return database;
  } catch (cause) {
    throw new AgentError("STORE_UNAVAILABLE", {
      message: "The file of the memory store could not be opened.",
      fix: "Check its path and permissions.",
      cause,
    });
  }
}

class SqliteMemoryStore implements SqliteMemory {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async put(owner: MemoryOwner, memory: Memory): Promise<void> {
    const key = ownerKey(owner);
    this.#write(() => {
      const database = this.#database;
      if (database.prepare("SELECT 1 FROM memories WHERE owner = ? AND id = ?").get(key, memory.id)) return;
      const held = database.prepare("SELECT count(*) AS held FROM memories WHERE owner = ?").get(key)?.["held"];
      if (Number(held) >= memoryLimits.perOwnerMax) throw memoryFull();
      const { id, text, createdAt, sessionId } = memory;
      const insert = database.prepare("INSERT INTO memories (owner, id, text, createdAt, sessionId) VALUES (?, ?, ?, ?, ?)");
      const { lastInsertRowid } = insert.run(key, id, text, createdAt, sessionId);
      const words = searchWords(text).join(" ");
      database.prepare("INSERT INTO memoryWords (rowid, words, owner) VALUES (?, ?, ?)").run(lastInsertRowid, words, key);
    });
  }

  async search(owner: MemoryOwner, query: string, countMax: number): Promise<readonly Memory[]> {
    const words = queryWords(query);
    if (words.length === 0) return [];
    const key = ownerKey(owner);
    // Words hold letters and digits alone, so nothing of a query is an operator.
    const expression = `owner : "${key}" AND words : (${words.map((word) => `"${word}" *`).join(" OR ")})`;
    const found = this.#database.prepare(
      `SELECT ${columns} FROM memories WHERE number IN (SELECT rowid FROM memoryWords WHERE memoryWords MATCH ?) AND owner = ?`,
    );
    return rankMemories(found.all(expression, key).map(memoryOf), words, countMax);
  }

  async list(owner: MemoryOwner, countMax: number): Promise<readonly Memory[]> {
    const newest = this.#database.prepare(`SELECT ${columns} FROM memories WHERE owner = ? ORDER BY createdAt DESC, id LIMIT ?`);
    return newest.all(ownerKey(owner), countMax).map(memoryOf);
  }

  async delete(owner: MemoryOwner, id: string): Promise<boolean> {
    return this.#delete("owner = ? AND id = ?", ownerKey(owner), id) === 1;
  }

  async clear(owner: MemoryOwner): Promise<number> {
    return this.#delete("owner = ?", ownerKey(owner));
  }

  close(): void {
    this.#database.close();
  }

  #delete(condition: string, ...values: readonly string[]): number {
    return this.#write(() => {
      const numbers = this.#database.prepare(`SELECT number FROM memories WHERE ${condition}`).all(...values);
      for (const { number } of numbers) {
        this.#database.prepare("DELETE FROM memoryWords WHERE rowid = ?").run(Number(number));
        this.#database.prepare("DELETE FROM memories WHERE number = ?").run(Number(number));
      }
      return numbers.length;
    });
  }

  /** All of it or nothing. */
  #write<T>(work: () => T): T {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }
}

/** One word for the full-text search, whatever the names hold. */
function ownerKey({ user, scope }: MemoryOwner): string {
  return createHash("sha256")
    .update(JSON.stringify([scope, user]))
    .digest("hex");
}

function memoryOf(row: Readonly<Record<string, unknown>>): Memory {
  return { id: String(row["id"]), text: String(row["text"]), createdAt: Number(row["createdAt"]), sessionId: String(row["sessionId"]) };
}
