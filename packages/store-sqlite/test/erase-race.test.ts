import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FactDraft } from "@loopwright/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { eraseTraces } from "../src/erase-traces.ts";
import { sqliteStore } from "../src/index.ts";
import { remove } from "../src/log-operations.ts";
import { statementsOf } from "../src/statements.ts";
import { refOf } from "./engine-scene.ts";
import { freshFolder } from "./fresh-folder.ts";

const folder = freshFolder();
let count = 0;

const words: { readonly [session: string]: string } = { kept: "innocent", first: "plughplover", second: "xyzzyfrotz" };

/** A file with three sessions whose words are in the index. */
async function filled(): Promise<string> {
  const path = join(folder, `${count++}.db`);
  const store = sqliteStore({ path, busyTimeoutMs: 1_000 });
  for (const [session, word] of Object.entries(words)) {
    const facts = Array.from({ length: 40 }, (_, n): FactDraft => {
      const message = { role: "user", content: `${word} ${word}${n}` } as const;
      return { type: "input.accepted", inputId: `i${n}`, runId: `r${n}`, mode: "enqueue", message, at: n, v: 1 };
    });
    await store.log.append(refOf(session), { expectedSeq: 0, batchId: session, facts });
    await store.index.search("local", word);
  }
  await store.close();
  return path;
}

function connection(path: string) {
  const database = new DatabaseSync(path);
  onTestFinished(() => database.close());
  database.exec("PRAGMA secure_delete = ON");
  const statements = statementsOf(database);
  const transaction = (work: () => void): void => {
    database.exec("BEGIN IMMEDIATE");
    work();
    database.exec("COMMIT");
  };
  return {
    transaction,
    removeOnly: (session: string) => transaction(() => remove(statements, refOf(session))),
    erase: (own: (work: () => void) => void) => eraseTraces({ statements, transaction: own, waitMs: 100, busyTimeoutMs: 100 }),
    marks: () =>
      Object.fromEntries(statements.all("SELECT id, removed FROM sessions WHERE removed > 0").map(({ id, removed }) => [id, removed])),
  };
}

/** Whether the words of the session stand in the bytes of the file or its log: in the index the first letters of a word may be shared. */
const hasTraces = (path: string, session: string): boolean =>
  [path, `${path}-wal`].some(
    (each) =>
      existsSync(each) &&
      readFileSync(each)
        .toString("latin1")
        .includes(words[session]?.slice(1) ?? ""),
  );

describe("the erasure of what removed sessions have left in the file", () => {
  it("does not count for a session that another process removes before any of its transactions", async () => {
    for (let at = 1; ; at++) {
      const path = await filled();
      const [one, other] = [connection(path), connection(path)];
      one.removeOnly("first");
      let transactions = 0;
      one.erase((work) => {
        if (++transactions === at) other.removeOnly("second");
        one.transaction(work);
      });
      if (transactions < at) break;
      expect(one.marks(), `transaction ${at}`).toEqual({ first: 1, second: 3 });
      // The other process may have died by now: the next erasure finishes its removal.
      one.erase(one.transaction);
      expect(one.marks()).toEqual({ first: 1, second: 1 });
      expect([hasTraces(path, "first"), hasTraces(path, "second"), hasTraces(path, "kept")], `transaction ${at}`).toEqual([
        false,
        false,
        true,
      ]);
    }
    expect(count).toBeGreaterThan(3);
  });

  it("is still owed where a removal is repeated after a crash that left words in the index", async () => {
    const path = await filled();
    connection(path).removeOnly("first");
    const store = sqliteStore({ path, busyTimeoutMs: 1_000 });
    onTestFinished(() => store.close());
    await store.log.remove(refOf("first"));
    expect([hasTraces(path, "first"), hasTraces(path, "kept")]).toEqual([false, true]);
  });
});
