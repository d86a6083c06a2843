import { copyFileSync, existsSync, renameSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { type SqliteStore, sqliteStore } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";

const folder = freshFolder();
const ref = { scope: "local", session: "first" };
const opened: SqliteStore[] = [];
let count = 0;

const batch = (seq: number) =>
  ({ batchId: `b${seq}`, expectedSeq: seq, facts: [{ type: "session.changed", title: `note ${seq}`, at: 1, v: 1 }] }) as const;

function open(path: string): SqliteStore {
  const store = sqliteStore({ path });
  opened.push(store);
  return store;
}

/** A store with three facts, all of them in the file itself. */
async function filled(): Promise<{ readonly store: SqliteStore; readonly path: string }> {
  const path = join(folder, `${count++}.db`);
  const store = open(path);
  for (let seq = 0; seq < 3; seq++) await store.log.append(ref, batch(seq));
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  await store.log.head(ref);
  return { store, path };
}

/** The answers to an append, a claim and a read. */
async function expectRefused({ log, index }: SqliteStore, code: string): Promise<void> {
  await expect(log.append(ref, batch(3))).rejects.toMatchObject({ code });
  await expect(log.claim(ref, { node: "n", leaseMs: 15_000 })).rejects.toMatchObject({ code });
  await expect(log.head(ref)).rejects.toMatchObject({ code });
  await expect(index.list("local")).rejects.toMatchObject({ code });
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

describe("a file under a running process", () => {
  it("that was moved away is not made anew, and is used again when it is put back", async () => {
    const { store, path } = await filled();
    renameSync(path, `${path}.away`);
    await expectRefused(store, "STORE_UNAVAILABLE");
    expect(existsSync(path)).toBe(false);
    renameSync(`${path}.away`, path);
    expect(await store.log.append(ref, batch(3))).toEqual({ type: "ok", lastSeq: 4 });
    expect(await store.log.read(ref)).toHaveLength(4);
  });

  it("that was removed takes no writes", async () => {
    const { store, path } = await filled();
    rmSync(path);
    await expectRefused(store, "STORE_UNAVAILABLE");
    expect(existsSync(path)).toBe(false);
  });

  it("that was replaced by an older copy is not driven on, until the process is started anew", async () => {
    const { store, path } = await filled();
    copyFileSync(path, `${path}.backup`);
    await store.log.append(ref, batch(3));
    for (const suffix of ["-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
    renameSync(`${path}.backup`, path);
    await expectRefused(store, "STORE_ROLLED_BACK");
    await store.close();
    expect(await open(path).log.head(ref)).toMatchObject({ lastSeq: 3 });
  });

  it.each([0, 4_096, 20_000])("that was cut to %i bytes takes no writes", async (sizeBytes) => {
    const { store, path } = await filled();
    expect(statSync(path).size).toBeGreaterThan(20_000);
    truncateSync(path, sizeBytes);
    await expectRefused(store, "STORE_CORRUPT");
  });

  it("that was compacted by another program is used on", async () => {
    const { store, path } = await filled();
    await store.blobs.put("local", "large", { bytes: new Uint8Array(500_000) });
    await store.blobs.remove("local", "large");
    const before = new DatabaseSync(path);
    before.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    before.close();
    await store.log.head(ref);
    const sizeBytes = statSync(path).size;
    const other = new DatabaseSync(path);
    other.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    other.close();
    expect(statSync(path).size).toBeLessThan(sizeBytes);
    expect(await store.log.append(ref, batch(3))).toEqual({ type: "ok", lastSeq: 4 });
  });
});
