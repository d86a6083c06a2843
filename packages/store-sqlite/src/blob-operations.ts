import type { Answer, Ask } from "./operation.ts";
import { findSession } from "./session-rows.ts";
import { type Row, type Statements, textOf } from "./statements.ts";

export function putBlob(statements: Statements, { scope, key, bytes, mediaType, ifAbsent, session }: Ask<"putBlob">): boolean {
  const onConflict = ifAbsent ? "DO NOTHING" : "DO UPDATE SET media_type = excluded.media_type, bytes = excluded.bytes";
  if (session === undefined) {
    const sql = `INSERT INTO blobs (scope, key, media_type, bytes) VALUES (?, ?, ?, ?) ON CONFLICT (scope, key) ${onConflict}`;
    return statements.run(sql, scope, key, mediaType ?? null, bytes) > 0;
  }
  if (isRemoved(statements, scope, session)) return false;
  const sql = `INSERT INTO owned_blobs (scope, session, key, media_type, bytes) VALUES (?, ?, ?, ?, ?) ON CONFLICT (scope, session, key) ${onConflict}`;
  return statements.run(sql, scope, session, key, mediaType ?? null, bytes) > 0;
}

export function getBlob(statements: Statements, { scope, key, session }: Ask<"getBlob">): Answer<"getBlob"> {
  const row = findBlob(statements, { scope, key, session });
  const bytes = row?.["bytes"];
  if (!(bytes instanceof Uint8Array)) return undefined;
  const mediaType = textOf(row, "media_type");
  return { bytes, ...(mediaType === null ? {} : { mediaType }) };
}

/** The value of the session, else of the scope, else of any other session. */
function findBlob(statements: Statements, { scope, key, session }: Ask<"getBlob">): Row | undefined {
  const columns = "SELECT media_type, bytes FROM";
  return (
    (session === undefined
      ? undefined
      : statements.one(`${columns} owned_blobs WHERE scope = ? AND session = ? AND key = ?`, scope, session, key)) ??
    statements.one(`${columns} blobs WHERE scope = ? AND key = ?`, scope, key) ??
    statements.one(`${columns} owned_blobs WHERE scope = ? AND key = ? LIMIT 1`, scope, key)
  );
}

/** The caller holds the write transaction. */
export function ownBlob(statements: Statements, { scope, key, session }: Ask<"ownBlob">): boolean {
  if (isRemoved(statements, scope, session)) return false;
  const isOwned =
    statements.one("SELECT 1 FROM owned_blobs WHERE scope = ? AND session = ? AND key = ?", scope, session, key) !== undefined;
  const copied = isOwned ? 0 : copyTo(statements, { scope, key, session });
  statements.run("DELETE FROM blobs WHERE scope = ? AND key = ?", scope, key);
  return isOwned || copied > 0;
}

function copyTo(statements: Statements, { scope, key, session }: Ask<"ownBlob">): number {
  const into = "INSERT INTO owned_blobs (scope, session, key, media_type, bytes) SELECT scope, ?, key, media_type, bytes FROM";
  const fromScope = statements.run(`${into} blobs WHERE scope = ? AND key = ?`, session, scope, key);
  return fromScope > 0 ? fromScope : statements.run(`${into} owned_blobs WHERE scope = ? AND key = ? LIMIT 1`, session, scope, key);
}

/** The caller holds the write transaction. */
export function removeBlob(statements: Statements, { scope, key, ifUnused }: Ask<"removeBlob">): boolean {
  if (ifUnused && statements.one("SELECT 1 FROM owned_blobs WHERE scope = ? AND key = ? LIMIT 1", scope, key)) return false;
  const ofScope = statements.run("DELETE FROM blobs WHERE scope = ? AND key = ?", scope, key);
  return statements.run("DELETE FROM owned_blobs WHERE scope = ? AND key = ?", scope, key) + ofScope > 0;
}

export function listBlobs(statements: Statements, { scope, prefix, after, limit }: Ask<"listBlobs">): readonly string[] {
  return statements.all(listSql, scope, prefix, after ?? null, limit).map((row) => textOf(row, "key") ?? "");
}

/**
 * Keys of one table from `after` on. Both ends of the range bound the search in the index: a table with too few keys of the prefix would else be
 * read to its end. No text has the byte FF: it stands behind all that begins with a prefix.
 */
const keysOf = (table: string): string =>
  `SELECT key FROM ${table} WHERE scope = ?1 AND key >= max(?2, coalesce(?3, '')) AND key < ?2 || CAST(x'FF' AS TEXT)
    AND (?3 IS NULL OR key > ?3)`;

/** Scope, prefix, the key after which to begin or null, how many at most. */
export const listSql: string = `${keysOf("blobs")} UNION ${keysOf("owned_blobs")} ORDER BY key LIMIT ?4`;

const isRemoved = (statements: Statements, scope: string, session: string): boolean =>
  findSession(statements, { scope, session })?.isRemoved ?? false;
