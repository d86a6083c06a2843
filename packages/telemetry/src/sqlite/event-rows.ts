import type { DatabaseSync } from "node:sqlite";
import {
  type EventBounds,
  type EventQuery,
  eventBounds,
  eventCursor,
  placeOf,
  type StoredEvent,
  type TelemetryEvent,
} from "../events/event-store.ts";

export type EventRow = TelemetryEvent;

interface EventRows {
  add(stream: string, event: TelemetryEvent): void;
  read(stream: string, query: EventQuery): readonly StoredEvent[];
  /** Drops what is too old or too much. */
  prune(): void;
}

const columns = "rowid AS place, key, at, scope, session, data";
const order = "ORDER BY at DESC, rowid DESC LIMIT ?";

/** The table of records. */
export function eventRows(
  database: DatabaseSync,
  { keepMs, eventsMax, now }: Required<EventBounds> & { readonly now: () => number },
): EventRows {
  const insert = database.prepare("INSERT OR IGNORE INTO event (stream, key, at, scope, session, data) VALUES (?, ?, ?, ?, ?, ?)");
  const ofStream = database.prepare(
    `SELECT ${columns} FROM event WHERE stream = ? AND at >= ? AND (? IS NULL OR scope = ?) AND (at, rowid) < (?, ?) ${order}`,
  );
  // The index of sessions holds those records alone that have one.
  const ofSession = database.prepare(
    `SELECT ${columns} FROM event WHERE stream = ? AND scope = ? AND session = ? AND session <> '' AND at >= ? AND (at, rowid) < (?, ?) ${order}`,
  );
  const old = database.prepare("DELETE FROM event WHERE at < ?");
  const streams = database.prepare("SELECT stream, COUNT(*) AS count FROM event GROUP BY stream");
  const excess = database.prepare("DELETE FROM event WHERE rowid IN (SELECT rowid FROM event WHERE stream = ? ORDER BY at, rowid LIMIT ?)");
  return {
    add(stream, { key, at, scope, session, data }) {
      insert.run(stream, key, at, scope, session ?? "", JSON.stringify(data));
    },
    read(stream, { from = 0, scope, session, before, limit = eventBounds.eventsMax }) {
      const since = Math.max(from, now() - keepMs);
      const end = before === undefined ? { at: Number.MAX_SAFE_INTEGER, place: 0 } : placeOf(before);
      const rows =
        session === undefined
          ? ofStream.all(stream, since, scope ?? null, scope ?? null, end.at, end.place, limit)
          : ofSession.all(stream, scope ?? "", session, since, end.at, end.place, limit);
      return rows.reverse().map((row) => ({
        key: String(row["key"]),
        at: Number(row["at"]),
        scope: String(row["scope"]),
        ...(row["session"] === "" ? {} : { session: String(row["session"]) }),
        data: JSON.parse(String(row["data"])) as object,
        cursor: eventCursor({ at: Number(row["at"]), place: Number(row["place"]) }),
      }));
    },
    prune() {
      old.run(now() - keepMs);
      for (const { stream, count } of streams.all()) if (Number(count) > eventsMax) excess.run(String(stream), Number(count) - eventsMax);
    },
  };
}
