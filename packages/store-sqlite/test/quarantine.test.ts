import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AppendOutcome } from "@loopwright/core/ports";
import { expect, it, onTestFinished } from "vitest";
import { type SqliteStore, sqliteStore } from "../src/index.ts";
import { appendAll, engineOf, notes, refOf, titlesIn } from "./engine-scene.ts";
import { freshFolder } from "./fresh-folder.ts";
import { startStoreProcess } from "./store-process.ts";

const folder = freshFolder();
let count = 0;
const ref = refOf("shared");
const other = refOf("other");

function open(path: string): SqliteStore {
  const store = sqliteStore(path);
  onTestFinished(() => store.close());
  return store;
}

/** A file with ten facts in each of two sessions. */
async function filled(): Promise<{ readonly path: string; readonly store: SqliteStore }> {
  const path = join(folder, `${count++}.db`);
  const store = open(path);
  for (const each of [ref, other])
    for (let seq = 0; seq < 10; seq++) await store.log.append(each, notes(seq, `${seq + 1} of ${each.session}`));
  return { path, store };
}

/** Changes the title of the fifth fact past the store; the same again mends it. */
function turn(path: string, from: string, to: string): void {
  const database = new DatabaseSync(path);
  const sql = `UPDATE facts SET body = replace(body, ?, ?) WHERE id = 5 + (SELECT key FROM sessions WHERE id = 'shared') * 1073741824`;
  expect(database.prepare(sql).run(from, to).changes).toBe(1);
  database.close();
}
const damage = (path: string): void => turn(path, "5 of", "6 of");
const mend = (path: string): void => turn(path, "6 of", "5 of");

const answerOf = (store: SqliteStore, of = ref, after = 10): Promise<AppendOutcome["type"] | "SESSION_CORRUPT"> =>
  store.log.append(of, notes(after, "news")).then(
    ({ type }) => type,
    (error) => error.code,
  );

it("after one connection has seen damage every other one refuses to write, also one that has written before, and also after all were opened again", async () => {
  const { path, store } = await filled();
  const second = open(path);
  expect(await second.log.read(ref)).toHaveLength(10);
  damage(path);
  await expect(store.log.read(ref)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  expect([await answerOf(store), await answerOf(second)]).toEqual(["SESSION_CORRUPT", "SESSION_CORRUPT"]);
  await store.close();
  await second.close();
  const third = open(path);
  await expect(third.log.append(ref, notes(10, "news"))).rejects.toMatchObject({
    code: "SESSION_CORRUPT",
    message: "The log of session `shared` is damaged at fact 5.",
  });
  expect([await answerOf(third, other), (await third.log.head(ref)).lastSeq]).toEqual(["ok", 10]);
});

it("a process that writes is stopped by the damage that another process has read", async () => {
  const { path, store } = await filled();
  const writer = startStoreProcess("as-told", path, "");
  onTestFinished(() => writer.kill());
  const say = (line: string): void => void writer.child.stdin?.write(`${line}\n`);
  say("10 eleventh");
  expect(await writer.next()).toBe("ok");
  damage(path);
  await expect(store.log.read(ref)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  say("11 twelfth");
  expect(await writer.next()).toBe("SESSION_CORRUPT");
});

it("damage of the last fact that an append comes upon holds for all from then on, and so does damage that a check finds", async () => {
  for (const see of [(store: SqliteStore) => answerOf(store), (store: SqliteStore) => store.check()]) {
    const { path, store } = await filled();
    const database = new DatabaseSync(path);
    const change = (chain: string): unknown => database.prepare(`UPDATE facts SET chain = ${chain} WHERE body LIKE '%10 of shared%'`).run();
    change("chain + 1");
    await see(store);
    // As if nothing had been: only the mark is left.
    change("chain - 1");
    database.close();
    expect(await answerOf(open(path))).toBe("SESSION_CORRUPT");
  }
});

it("reported damage is written to the file before the store is closed, however close the two are", () => {
  const path = join(folder, `${count++}.db`);
  const engine = engineOf(path);
  for (let seq = 0; seq < 10; seq++) appendAll(engine, [{ session: "shared", request: notes(seq, `${seq + 1} of shared`) }]);
  damage(path);
  const results = engine.serve([
    { name: "read", ask: { ref, from: 1, limit: 100 } },
    { name: "close", ask: {} },
  ]);
  expect(results).toMatchObject([{ fault: { code: "SESSION_CORRUPT" } }, { answer: undefined }]);
  const again = engineOf(path);
  expect(appendAll(again, [{ session: "shared", request: notes(10, "news") }])).toMatchObject([{ code: "SESSION_CORRUPT" }]);
  again.close();
});

it("a check lifts the quarantine of a session that is whole again, for every connection, and of no other", async () => {
  const { path, store } = await filled();
  const second = open(path);
  damage(path);
  await expect(second.log.read(ref)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  expect((await store.check()).damaged).toEqual(["local/shared"]);
  expect(await answerOf(second)).toBe("SESSION_CORRUPT");
  mend(path);
  // The damage was not seen yet.
  expect([await answerOf(store), await answerOf(second)]).toEqual(["SESSION_CORRUPT", "SESSION_CORRUPT"]);
  expect((await store.check()).damaged).toEqual([]);
  expect([await answerOf(store), await answerOf(second, ref, 11)]).toEqual(["ok", "ok"]);
});

it("a file put back from a backup can be written again", async () => {
  const { path, store } = await filled();
  await store.close();
  copyFileSync(path, `${path}.backup`);
  damage(path);
  const damagedStore = open(path);
  await expect(damagedStore.log.read(ref)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  await damagedStore.close();
  renameSync(`${path}.backup`, path);
  expect(await answerOf(open(path))).toBe("ok");
});

it("a removed session is closed and not damaged", async () => {
  const { path, store } = await filled();
  damage(path);
  await expect(store.log.read(ref)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  await store.log.remove(ref);
  expect([await answerOf(store), await answerOf(open(path))]).toEqual(["closed", "closed"]);
});

it("while another process holds the file, damage is reported, remembered, and written to the file with the next write", async () => {
  const { path, store } = await filled();
  await store.close();
  damage(path);
  const engine = engineOf(path);
  // Opened for writing, before the other one comes.
  expect(appendAll(engine, [{ session: "other", request: notes(10, "news") }])).toMatchObject([{ type: "ok" }]);
  const holder = new DatabaseSync(path);
  holder.exec("BEGIN IMMEDIATE");
  expect(titlesIn(engine, "shared")).toBe("SESSION_CORRUPT");
  holder.exec("ROLLBACK");
  holder.close();
  mend(path);
  expect(appendAll(engine, [{ session: "shared", request: notes(10, "news") }])).toMatchObject([{ code: "SESSION_CORRUPT" }]);
  engine.close();
  expect(await answerOf(open(path))).toBe("SESSION_CORRUPT");
});
