import type { Answer, Ask } from "./operation.ts";
import { type Statements, textOf } from "./statements.ts";

export function putBlob(statements: Statements, { scope, key, bytes, mediaType, ifAbsent }: Ask<"putBlob">): boolean {
  const onConflict = ifAbsent ? "DO NOTHING" : "DO UPDATE SET media_type = excluded.media_type, bytes = excluded.bytes";
  const sql = `INSERT INTO blobs (scope, key, media_type, bytes) VALUES (?, ?, ?, ?) ON CONFLICT (scope, key) ${onConflict}`;
  return statements.run(sql, scope, key, mediaType ?? null, bytes) > 0;
}

export function getBlob(statements: Statements, { scope, key }: Ask<"getBlob">): Answer<"getBlob"> {
  const row = statements.one("SELECT media_type, bytes FROM blobs WHERE scope = ? AND key = ?", scope, key);
  const bytes = row?.["bytes"];
  if (!(bytes instanceof Uint8Array)) return undefined;
  const mediaType = textOf(row, "media_type");
  return { bytes, ...(mediaType === null ? {} : { mediaType }) };
}

export function removeBlob(statements: Statements, { scope, key }: Ask<"removeBlob">): boolean {
  return statements.run("DELETE FROM blobs WHERE scope = ? AND key = ?", scope, key) > 0;
}

export function listBlobs(statements: Statements, { scope, prefix, after, limit }: Ask<"listBlobs">): readonly string[] {
  const rows = statements.all(
    "SELECT key FROM blobs WHERE scope = ?1 AND key >= ?2 AND (?3 IS NULL OR key > ?3) AND substr(key, 1, length(?2)) = ?2 ORDER BY key LIMIT ?4",
    ...[scope, prefix, after ?? null, limit],
  );
  return rows.map((row) => textOf(row, "key") ?? "");
}
