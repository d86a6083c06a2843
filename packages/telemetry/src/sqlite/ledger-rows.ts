import type { DatabaseSync } from "node:sqlite";
import type { LedgerBooks } from "@loopwright/core/stores";

/** The tables of a ledger. */
export function ledgerRows(database: DatabaseSync): LedgerBooks {
  const sum = database.prepare("SELECT tokens, nanos FROM ledger_sum WHERE name = ?");
  const add = database.prepare(
    "INSERT INTO ledger_sum (name, tokens, nanos, endsAt) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens, nanos = nanos + excluded.nanos",
  );
  const change = database.prepare("UPDATE ledger_sum SET tokens = tokens + ?, nanos = nanos + ? WHERE name = ?");
  const find = database.prepare("SELECT tokens, nanos, sums, isOpen FROM reservation WHERE id = ?");
  const keep = database.prepare("INSERT INTO reservation (id, tokens, nanos, sums, isOpen, expiresAt) VALUES (?, ?, ?, ?, 1, ?)");
  const close = database.prepare("UPDATE reservation SET isOpen = 0 WHERE id = ?");
  const drop = database.prepare("DELETE FROM reservation WHERE id = ?");
  const forget = [
    database.prepare("DELETE FROM reservation WHERE expiresAt < ?"),
    database.prepare("DELETE FROM ledger_sum WHERE endsAt <= ?"),
  ];
  return {
    atomically(step) {
      database.exec("BEGIN IMMEDIATE");
      try {
        const result = step();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
    spent(name) {
      const row = sum.get(name);
      return { tokens: Number(row?.["tokens"] ?? 0), nanos: Number(row?.["nanos"] ?? 0) };
    },
    open: ({ name, endsAt }, { tokens, nanos }) => void add.run(name, tokens, nanos, endsAt ?? null),
    change: (name, { tokens, nanos }) => void change.run(tokens, nanos, name),
    reservation(id) {
      const row = find.get(id);
      if (!row) return undefined;
      const sums = JSON.parse(String(row["sums"])) as readonly string[];
      return { tokens: Number(row["tokens"]), nanos: Number(row["nanos"]), sums, isOpen: Number(row["isOpen"]) === 1 };
    },
    keep: (id, { tokens, nanos, sums }, expiresAt) => void keep.run(id, tokens, nanos, JSON.stringify(sums), Math.ceil(expiresAt)),
    close: (id) => void close.run(id),
    drop: (id) => void drop.run(id),
    forget: (now) => forget.forEach((statement) => void statement.run(now)),
  };
}
