import type { Json } from "@loopwright/core";
import type { SnapshotStore } from "@loopwright/core/ports";
import type { Database } from "./database.ts";
import { sessionOf } from "./rows.ts";

/** Small values beside a session, overwritten in place. A cache: losing one costs time only. */
export function acmeSnapshots(database: Database): SnapshotStore {
  return {
    put: (ref, name, value) =>
      database.atomically(() => {
        if (sessionOf(database, ref)?.["state"] === "removed") return;
        database.run("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", ref.scope, ref.session, name, JSON.stringify(value));
      }),
    get: ({ scope, session }, name) =>
      database.atomically(() => {
        const row = database.one("SELECT value FROM snapshots WHERE scope = ? AND session = ? AND name = ?", scope, session, name);
        return row && (JSON.parse(String(row["value"])) as Json);
      }),
    remove: ({ scope, session }, name) =>
      database.atomically(() => database.run("DELETE FROM snapshots WHERE scope = ? AND session = ? AND name = ?", scope, session, name)),
  };
}
