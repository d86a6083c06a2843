import { AgentError } from "@loopwright/core";
import { BestHits, productOf } from "./best-hits.ts";
import type { DocumentKind, KnowledgeDocument, KnowledgeStore, PassageHit, SearchPlace, StoredPassage } from "./knowledge-store.ts";
import { errorOf } from "./sqlite-error.ts";
import { openKnowledgeFile, type Row, type SqliteFile } from "./sqlite-file.ts";

export interface SqliteKnowledgeOptions {
  /** The file, made with its folder where it is missing; `:memory:` for none. It is a file of its own, not that of a session store. */
  readonly path: string;
  /** How long to wait for another process that writes, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number;
}

/** Passages that are compared between two turns of the event loop. */
const pageRows = 500;

const hitColumns = "d.id AS id, p.collection AS collection, d.title AS title, d.kind AS kind, passages.idx AS idx, passages.text AS text";
const joins = "JOIN documents d ON d.key = passages.document JOIN places p ON p.key = d.place";

/**
 * Knowledge in a file of SQLite, through `node:sqlite` and its full-text index. Several processes may share the file. The engine runs in this process: a
 * search by words takes the time of its hits, one by vectors looks at all vectors of its place, in steps. What is removed is overwritten in the file.
 * The file is opened with the first call.
 * @throws AgentError in its methods: STORE_UNAVAILABLE, STORE_FULL, STORE_READ_ONLY, STORE_CORRUPT, STORE_TOO_NEW
 */
export function sqliteKnowledgeStore(options: SqliteKnowledgeOptions): KnowledgeStore {
  if (typeof options?.path !== "string" || options.path === "")
    throw new AgentError("CONFIG_INVALID", { message: "The knowledge has no file.", fix: "Pass `path`." });
  return new SqliteKnowledgeStore(options);
}

class SqliteKnowledgeStore implements KnowledgeStore {
  readonly #options: SqliteKnowledgeOptions;
  #file: Promise<SqliteFile> | undefined;
  #isClosed = false;

  constructor(options: SqliteKnowledgeOptions) {
    this.#options = options;
  }

  put(scope: string, document: KnowledgeDocument, passages: readonly StoredPassage[]): Promise<void> {
    return this.#with((file) => file.transaction(() => putDocument(file, { scope, document, passages })));
  }

  remove(scope: string, collection: string, id: string): Promise<boolean> {
    return this.#with((file) => {
      const isRemoved = file.transaction(() => removeDocument(file, { scope, collection, id }));
      if (isRemoved) emptyLog(file);
      return isRemoved;
    });
  }

  removeScope(scope: string): Promise<number> {
    const sql = "SELECT p.collection AS collection, d.id AS id FROM documents d JOIN places p ON p.key = d.place WHERE p.scope = ?";
    return this.#with((file) => {
      const count = file.transaction(() => {
        const found = file.all(sql, scope);
        for (const { collection, id } of found) removeDocument(file, { scope, collection: String(collection), id: String(id) });
        return found.length;
      });
      if (count > 0) emptyLog(file);
      return count;
    });
  }

  list(scope: string, collection: string): Promise<readonly KnowledgeDocument[]> {
    const sql = "SELECT d.* FROM documents d JOIN places p ON p.key = d.place WHERE p.scope = ? AND p.collection = ? ORDER BY d.id";
    return this.#with((file) => file.all(sql, scope, collection).map((row) => documentOf(row, collection)));
  }

  byWords(place: SearchPlace, words: readonly string[]): Promise<readonly PassageHit[]> {
    return this.#with((file) => {
      const places = placeKeys(file, place);
      if (places.length === 0 || words.length === 0) return [];
      const owners = places.map((key) => `"p${key}"`).join(" OR ");
      const expression = `place : (${owners}) AND words : (${words.map((word) => `"${word.replaceAll('"', "")}"`).join(" OR ")})`;
      const sql = `SELECT ${hitColumns} FROM index_words JOIN passages ON passages.key = index_words.rowid ${joins}
        WHERE index_words MATCH ? ORDER BY bm25(index_words, 0.0, 1.0), passages.key LIMIT ?`;
      return file.all(sql, expression, place.limit).map(hitOf);
    });
  }

  byVector(
    place: SearchPlace,
    { embedding, vector }: { readonly embedding: string; readonly vector: Float32Array },
  ): Promise<readonly PassageHit[]> {
    return this.#with(async (file) => {
      const places = placeKeys(file, place);
      const best = new BestHits<number>(place.limit);
      const sql = `SELECT passages.key AS key, vector FROM passages JOIN documents d ON d.key = passages.document
        WHERE d.place IN (${places.join()}) AND d.embedding = ? AND passages.key > ? ORDER BY passages.key LIMIT ${pageRows}`;
      for (let after = -1, isMore = places.length > 0; isMore; ) {
        const rows = file.all(sql, embedding, after);
        for (const { key, vector: bytes } of rows) {
          after = Number(key);
          const own = vectorOf(bytes);
          if (own?.length === vector.length) best.add(productOf(own, vector), () => Number(key));
        }
        isMore = rows.length === pageRows;
        if (isMore) await new Promise((resolve) => setImmediate(resolve));
      }
      // A document may have been removed between two steps.
      return best.list().flatMap((key) => file.all(`SELECT ${hitColumns} FROM passages ${joins} WHERE passages.key = ?`, key).map(hitOf));
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const file = await this.#file?.catch(() => undefined);
    this.#file = undefined;
    file?.close();
  }

  async #with<Result>(work: (file: SqliteFile) => Result | Promise<Result>): Promise<Result> {
    const { path, busyTimeoutMs = 5_000 } = this.#options;
    if (this.#isClosed)
      throw new AgentError("STORE_UNAVAILABLE", { message: `The knowledge in ${path} is closed.`, fix: "Open it again." });
    this.#file ??= openKnowledgeFile(path, busyTimeoutMs).catch((error: unknown) => {
      this.#file = undefined;
      throw error;
    });
    try {
      return await work(await this.#file);
    } catch (error) {
      throw errorOf(error, path);
    }
  }
}

/** The write-ahead log keeps the pages as they were. Where another process reads, the next checkpoint empties it. */
function emptyLog(file: SqliteFile): void {
  file.one("PRAGMA wal_checkpoint(TRUNCATE)");
}

interface Put {
  readonly scope: string;
  readonly document: KnowledgeDocument;
  readonly passages: readonly StoredPassage[];
}

function putDocument(file: SqliteFile, { scope, document, passages }: Put): void {
  const { id, collection, title, kind, embedding = null } = document;
  removeDocument(file, { scope, collection, id });
  file.run("INSERT INTO places (scope, collection) VALUES (?, ?) ON CONFLICT DO NOTHING", scope, collection);
  const place = Number(file.one("SELECT key FROM places WHERE scope = ? AND collection = ?", scope, collection)?.["key"]);
  const columns = "INSERT INTO documents (place, id, title, kind, embedding, passages) VALUES (?, ?, ?, ?, ?, ?)";
  const key = file.insert(columns, place, id, title, kind, embedding, passages.length);
  for (const [idx, { text, words, vector }] of passages.entries()) {
    const bytes = vector ? new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength) : null;
    const passage = file.insert("INSERT INTO passages (document, idx, text, vector) VALUES (?, ?, ?, ?)", key, idx, text, bytes);
    file.run("INSERT INTO index_words (rowid, place, words) VALUES (?, ?, ?)", passage, `p${place}`, words.join(" "));
  }
}

interface Removal {
  readonly scope: string;
  readonly collection: string;
  readonly id: string;
}

function removeDocument(file: SqliteFile, { scope, collection, id }: Removal): boolean {
  const sql =
    "SELECT d.key AS key, d.place AS place FROM documents d JOIN places p ON p.key = d.place WHERE p.scope = ? AND p.collection = ? AND d.id = ?";
  const found = file.one(sql, scope, collection, id);
  if (!found) return false;
  const [document, place] = [Number(found["key"]), Number(found["place"])];
  file.run("DELETE FROM index_words WHERE rowid IN (SELECT key FROM passages WHERE document = ?)", document);
  file.run("DELETE FROM passages WHERE document = ?", document);
  file.run("DELETE FROM documents WHERE key = ?", document);
  file.run("DELETE FROM places WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM documents WHERE place = ?1)", place);
  return true;
}

function placeKeys(file: SqliteFile, { scope, collections }: SearchPlace): readonly number[] {
  const sql = "SELECT key FROM places WHERE scope = ? AND collection IN (SELECT value FROM json_each(?))";
  return file.all(sql, scope, JSON.stringify(collections)).map(({ key }) => Number(key));
}

function documentOf(row: Row, collection: string): KnowledgeDocument {
  const embedding = row["embedding"];
  return {
    id: String(row["id"]),
    collection,
    title: String(row["title"]),
    kind: row["kind"] as DocumentKind,
    passageCount: Number(row["passages"]),
    ...(typeof embedding === "string" ? { embedding } : {}),
  };
}

function hitOf(row: Row): PassageHit {
  const { id, collection, title, kind, idx, text } = row;
  return {
    document: { id: String(id), collection: String(collection), title: String(title), kind: kind as DocumentKind },
    index: Number(idx),
    text: String(text),
  };
}

/** A copy: the bytes of a row may begin where no float may. */
function vectorOf(bytes: unknown): Float32Array | undefined {
  return bytes instanceof Uint8Array ? new Float32Array(bytes.slice().buffer) : undefined;
}
