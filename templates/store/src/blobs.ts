import type { Blob, BlobStore } from "@loopwright/core/ports";
import type { Database, Row } from "./database.ts";
import { sessionOf } from "./rows.ts";

const listMax = 1_000;
/** The owner of what belongs to the scope: no session has this id. */
const ofScope = "";

/** Values under keys. A row for each owner: a value exists until the last of them is erased. */
export function acmeBlobs(database: Database): BlobStore {
  const isRemoved = (scope: string, session: string): boolean => sessionOf(database, { scope, session })?.["state"] === "removed";
  const ownersOf = (scope: string, key: string): readonly Row[] =>
    database.all("SELECT owner, bytes, media_type FROM blobs WHERE scope = ? AND key = ? ORDER BY owner", scope, key);
  return {
    put: (scope, key, { bytes, mediaType, ifAbsent, session }) =>
      database.atomically(() => {
        if (session !== undefined && isRemoved(scope, session)) return false;
        const owner = session ?? ofScope;
        if (ifAbsent && ownersOf(scope, key).some((row) => row["owner"] === owner)) return false;
        database.run("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?, ?, ?)", scope, key, owner, bytes, mediaType ?? null);
        return true;
      }),
    get: (scope, key, options) =>
      database.atomically((): Blob | undefined => {
        const owners = ownersOf(scope, key);
        const own = owners.find(({ owner }) => owner === (options?.session ?? ofScope)) ?? owners[0];
        if (!own) return undefined;
        const mediaType = own["media_type"];
        return { bytes: Uint8Array.from(own["bytes"] as Uint8Array), ...(typeof mediaType === "string" ? { mediaType } : {}) };
      }),
    own: (scope, key, session) =>
      database.atomically(() => {
        if (ownersOf(scope, key).length === 0 || isRemoved(scope, session)) return false;
        database.run(
          `INSERT OR IGNORE INTO blobs SELECT scope, key, ?, bytes, media_type FROM blobs WHERE scope = ? AND key = ? ORDER BY owner LIMIT 1`,
          session,
          scope,
          key,
        );
        database.run("DELETE FROM blobs WHERE scope = ? AND key = ? AND owner = ?", scope, key, ofScope);
        return true;
      }),
    remove: (scope, key, options) =>
      database.atomically(() => {
        const owners = ownersOf(scope, key);
        if (options?.ifUnused && owners.some(({ owner }) => owner !== ofScope)) return false;
        database.run("DELETE FROM blobs WHERE scope = ? AND key = ?", scope, key);
        return owners.length > 0;
      }),
    list: (scope, { prefix = "", after = "", limit = listMax } = {}) =>
      database.atomically(() =>
        database
          .all(
            "SELECT DISTINCT key FROM blobs WHERE scope = ? AND key > ? AND substr(key, 1, length(?)) = ? ORDER BY key LIMIT ?",
            scope,
            after,
            prefix,
            prefix,
            limit,
          )
          .map(({ key }) => String(key)),
      ),
  };
}
