import type { DatabaseSync } from "node:sqlite";
import { type EventBounds, type EventQuery, eventBounds, type TelemetryEvent } from "../events/event-store.ts";

export type EventRow = TelemetryEvent;

interface EventRows {
  add(stream: string, event: TelemetryEvent): void;
  read(stream: string, query: EventQuery): readonly TelemetryEvent[];
  /** Drops what is too old or too much. */
  prune(): void;
}

/** Records between two looks for what is too much. */
const pruneEvery = 1_000;

/** The table of records. */
export function eventRows(
  database: DatabaseSync,
  { keepMs, eventsMax, now }: Required<EventBounds> & { readonly now: () => number },
): EventRows {
  const insert = database.prepare("INSERT OR IGNORE INTO event (stream, key, at, scope, data) VALUES (?, ?, ?, ?, ?)");
  const select = database.prepare(
    "SELECT key, at, scope, data FROM event WHERE stream = ? AND at >= ? AND (? IS NULL OR scope = ?) ORDER BY at DESC, rowid DESC LIMIT ?",
  );
  const old = database.prepare("DELETE FROM event WHERE at < ?");
  const streams = database.prepare("SELECT stream, COUNT(*) AS count FROM event GROUP BY stream");
  const excess = database.prepare("DELETE FROM event WHERE rowid IN (SELECT rowid FROM event WHERE stream = ? ORDER BY at, rowid LIMIT ?)");
  const known = database.prepare("DELETE FROM known_entry WHERE at < ?");
  let added = pruneEvery;
  return {
    add(stream, { key, at, scope, data }) {
      insert.run(stream, key, at, scope, JSON.stringify(data));
      added += 1;
    },
    read(stream, { from = 0, scope, limit = eventBounds.eventsMax }) {
      const rows = select.all(stream, Math.max(from, now() - keepMs), scope ?? null, scope ?? null, limit);
      return rows.reverse().map((row) => ({
        key: String(row["key"]),
        at: Number(row["at"]),
        scope: String(row["scope"]),
        data: JSON.parse(String(row["data"])) as object,
      }));
    },
    prune() {
      if (added < pruneEvery) return;
      added = 0;
      old.run(now() - keepMs);
      known.run(now() - keepMs);
      for (const { stream, count } of streams.all()) if (Number(count) > eventsMax) excess.run(String(stream), Number(count) - eventsMax);
    },
  };
}
