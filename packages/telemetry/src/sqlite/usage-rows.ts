import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { dayOf, type UsageDimension, type UsageEntry, type UsageQuery, type UsageSum, usageDimensions } from "../usage/usage-entry.ts";

interface UsageRows {
  add(entry: UsageEntry): void;
  query(query: UsageQuery): readonly UsageSum[];
  /** Forgets the ids of entries that are older. From then on no entry as old as that is counted: it may have been before. */
  forget(before: number): void;
}

const counts = ["calls", "input", "cacheRead", "cacheWrite", "output", "nanos", "unpricedCalls"] as const;

/** The table of sums, one row for each day, scope, user, agent, provider and model. */
export function usageRows(database: DatabaseSync): UsageRows {
  const know = database.prepare("INSERT OR IGNORE INTO known_entry (id, at) VALUES (?, ?)");
  const add = database.prepare(
    `INSERT INTO usage (${[...usageDimensions, ...counts].join(", ")}) VALUES (${"?, ".repeat(usageDimensions.length + counts.length - 1)}?)
     ON CONFLICT DO UPDATE SET ${counts.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`,
  );
  const forgottenAt = database.prepare("SELECT at FROM forgotten");
  const drop = database.prepare("DELETE FROM known_entry WHERE at < ?");
  const note = database.prepare("INSERT INTO forgotten (one, at) VALUES (1, ?) ON CONFLICT DO UPDATE SET at = MAX(at, excluded.at)");
  return {
    add({ id, at, scope, user, agent, provider, model, input, cacheRead, cacheWrite, output, costNanos }) {
      if (at < Number(forgottenAt.get()?.["at"] ?? 0) || know.run(id, at).changes === 0) return;
      const keys = [dayOf(at), scope, user, agent, provider, model];
      add.run(...keys, 1, input, cacheRead, cacheWrite, output, costNanos ?? 0, costNanos === undefined ? 1 : 0);
    },
    forget(before) {
      drop.run(before);
      note.run(before);
    },
    query({ scope, user, from, to, by = [] }) {
      const columns = by.filter((name) => usageDimensions.includes(name));
      const conditions: readonly (readonly [string, string | undefined])[] = [
        ["scope = ?", scope],
        ["user = ?", user],
        ["day >= ?", from],
        ["day <= ?", to],
      ];
      const used = conditions.filter(([, value]) => value !== undefined);
      const sums = counts.map((name) => `SUM(${name}) AS ${name}`);
      const groups = columns.length === 0 ? "HAVING COUNT(*) > 0" : `GROUP BY ${columns.join(", ")} ORDER BY ${columns.join(", ")}`;
      const where = used.length === 0 ? "" : `WHERE ${used.map(([condition]) => condition).join(" AND ")}`;
      const text = `SELECT ${[...columns, ...sums].join(", ")} FROM usage ${where} ${groups}`;
      return database
        .prepare(text)
        .all(...used.map(([, value]) => value ?? ""))
        .map((row) => sumOf(row, columns));
    },
  };
}

function sumOf(row: Record<string, SQLOutputValue>, columns: readonly UsageDimension[]): UsageSum {
  const count = (name: string): number => Number(row[name]);
  return {
    ...Object.fromEntries(columns.map((name) => [name, String(row[name])])),
    ...{
      calls: count("calls"),
      input: count("input"),
      cacheRead: count("cacheRead"),
      cacheWrite: count("cacheWrite"),
      output: count("output"),
    },
    costUsd: count("nanos") / 1e9,
    unpricedCalls: count("unpricedCalls"),
  };
}
