import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { SessionRef } from "@loopwright/core/ports";
import type { Tampering } from "@loopwright/testing";

interface FactRow {
  readonly id: number;
  readonly body: string;
  readonly chain: number;
}

/** Does this to the row of one fact, past the store, with a chain as the store would make it. */
export function tamperWithFact(
  path: string,
  { scope, session }: SessionRef,
  { seq, way }: { readonly seq: number; readonly way: Tampering },
): void {
  const database = new DatabaseSync(path);
  const key = Number(database.prepare("SELECT key FROM sessions WHERE scope = ? AND id = ?").get(scope, session)?.["key"]);
  const rows = database
    .prepare("SELECT id, body, chain FROM facts WHERE id >> 30 = ? ORDER BY id")
    .all(key) as unknown as readonly FactRow[];
  const [before, own] = [rows[seq - 2], rows[seq - 1]];
  if (!before || !own) throw new Error(`There is no fact ${seq} behind another one.`);
  const put = database.prepare("INSERT OR REPLACE INTO facts (id, body, chain) VALUES (?, ?, ?)");
  if (way === "missing") database.prepare("DELETE FROM facts WHERE id = ?").run(own.id);
  else if (way === "changed") {
    const body = own.body.replace(/"title":"[^"]*"/, '"title":"forged"');
    put.run(own.id, body, crc32(body, before.chain));
  } else {
    for (const row of rows.slice(seq - 1)) put.run(row.id + 1, row.body, row.chain);
    put.run(own.id, before.body, before.chain);
  }
  database.close();
}
