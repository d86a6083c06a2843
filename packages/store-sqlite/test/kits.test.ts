import { copyFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { manualClock } from "@loopwright/core/memory";
import type { BlobStore, SessionRef } from "@loopwright/core/ports";
import { blobStoreKit, leaseKit, runKit, sessionIndexKit, sessionLogKit, snapshotStoreKit, type Tampering } from "@loopwright/testing";
import { afterEach, describe, expect, it } from "vitest";
import { type SqliteStore, sqliteStore } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";
import { tamperWithFact } from "./tamper.ts";

const folder = freshFolder();
/** Small, so that a case can fill it. */
const sizeMaxBytes = 12_000_000;
const opened: SqliteStore[] = [];
let count = 0;

/** A store on a fresh file, and how to open the file again. */
function fresh() {
  const path = join(folder, `${count++}.db`);
  const clock = manualClock();
  const open = (): SqliteStore => {
    const store = sqliteStore({ path, clock, sizeMaxBytes });
    opened.push(store);
    return store;
  };
  const store = open();
  const reopen = async (): Promise<SqliteStore> => {
    await store.close();
    return open();
  };
  return { ...store, path, clock, open, reopen };
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

async function logUnderTest() {
  const { log, blobs, path, clock, open, reopen } = fresh();
  return {
    log,
    advance: (ms: number) => clock.advance(ms),
    reopen: async () => (await reopen()).log,
    another: async () => open().log,
    ruin: async (ref: SessionRef) => ruinings["nonsense in its rows"](path, ref),
    damage: async (ref: SessionRef, seq: number) => damageFact(path, ref, seq),
    tamper: async (ref: SessionRef, seq: number, way: Tampering) => tamperWithFact(path, ref, { seq, way }),
    rollBack: async () => copyOf(path),
    fill: () => fillWith(blobs),
  };
}

/** A copy of the file with all that is in its log; what is given puts it in the file's place. */
function copyOf(path: string): () => Promise<void> {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  copyFileSync(path, `${path}.copy`);
  return async () => {
    for (const suffix of ["-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
    renameSync(`${path}.copy`, path);
  };
}

/** Changes the last letter but one of a fact, past the store. */
function damageFact(path: string, { scope, session }: SessionRef, seq: number): void {
  const database = new DatabaseSync(path);
  const { changes } = database
    .prepare(
      `UPDATE facts SET body = substr(body, 1, length(body) - 2) || '7}'
       WHERE id = ? + (SELECT key FROM sessions WHERE scope = ? AND id = ?) * 1073741824`,
    )
    .run(seq, scope, session);
  database.close();
  expect(changes).toBe(1);
}

function change(path: string, { scope, session }: SessionRef, ...changes: readonly string[]): void {
  const database = new DatabaseSync(path);
  const row = database.prepare("SELECT key FROM sessions WHERE scope = ? AND id = ?").get(scope, session);
  const key = Number(row?.["key"]);
  for (const each of changes) database.exec(each.replaceAll("$facts", `id >> 30 = ${key}`).replaceAll("$key", String(key)));
  database.close();
}

/** Ways to make what a file holds of a session unreadable, past the store. */
const ruinings = {
  "nonsense in its rows": (path: string, ref: SessionRef): void =>
    change(
      path,
      ref,
      "UPDATE facts SET body = 'nonsense' WHERE $facts",
      "UPDATE sessions SET lease_node = 'n', lease_until = 9e15, lease_ms = 9e15, lease_owner = 'nonsense' WHERE key = $key",
      "INSERT INTO summaries (session, seq, value) SELECT key, last_seq, 'nonsense' FROM sessions WHERE key = $key ON CONFLICT DO UPDATE SET value = 'nonsense'",
    ),
  "no rows of facts": (path: string, ref: SessionRef): void => change(path, ref, "DELETE FROM facts WHERE $facts"),
  "facts that are no JSON under a sound chain": (path: string, ref: SessionRef): void => {
    const database = new DatabaseSync(path);
    let chain = 0;
    const facts = database
      .prepare("SELECT facts.id FROM facts JOIN sessions ON key = facts.id >> 30 WHERE scope = ? AND sessions.id = ? ORDER BY facts.id")
      .all(ref.scope, ref.session);
    for (const { id } of facts) {
      chain = crc32("nonsense", chain);
      database.prepare("UPDATE facts SET body = 'nonsense', chain = ? WHERE id = ?").run(chain, Number(id));
    }
    database.prepare("UPDATE sessions SET chain = ? WHERE scope = ? AND id = ?").run(chain, ref.scope, ref.session);
    database.close();
  },
} as const;

/** Puts blobs until there is space for none; gives what takes them away. */
async function fillWith(blobs: BlobStore): Promise<() => Promise<void>> {
  const keys: string[] = [];
  for (const sizeBytes of [1_000_000, 50_000])
    for (;;) {
      const key = `filling ${keys.length}`;
      const isPut = await blobs.put("local", key, { bytes: new Uint8Array(sizeBytes) }).catch(() => false);
      if (!isPut) break;
      keys.push(key);
    }
  return async () => {
    for (const key of keys) await blobs.remove("local", key);
  };
}

const workLack = { capability: "work", reason: "the rows of a file are counted in `bounded-pages.test.ts`" };

describe("A32: session log", () =>
  runKit(it, sessionLogKit, {
    make: logUnderTest,
    lacks: [{ capability: "unknown", reason: "an answer is lost only with the worker: `worker-calls.test.ts`" }, workLack],
  }));
describe("leases", () => runKit(it, leaseKit, { make: logUnderTest }));
describe("session index", () =>
  runKit(it, sessionIndexKit, {
    lacks: [workLack],
    make: async () => {
      const { log, index, path, reopen } = fresh();
      return { log, index, ruin: async (ref) => ruinings["nonsense in its rows"](path, ref), reopen: async () => (await reopen()).index };
    },
  }));
describe("blob store", () =>
  runKit(it, blobStoreKit, {
    make: async () => {
      const { blobs, log, reopen } = fresh();
      return { blobs, log, reopen: async () => (await reopen()).blobs };
    },
  }));
describe("snapshot store", () => runKit(it, snapshotStoreKit, { make: async () => fresh() }));

describe.each(Object.entries(ruinings))("a session with %s is the only one that suffers", (_, ruin) => {
  runKit(
    it,
    sessionLogKit.filter(({ needs }) => needs?.includes("ruin")),
    {
      make: async () => {
        const { log, path, reopen } = fresh();
        return { log, ruin: async (ref) => ruin(path, ref), reopen: async () => (await reopen()).log };
      },
    },
  );
  runKit(
    it,
    sessionIndexKit.filter(({ needs }) => needs?.includes("ruin")),
    {
      make: async () => {
        const { log, index, path, reopen } = fresh();
        return { log, index, ruin: async (ref) => ruin(path, ref), reopen: async () => (await reopen()).index };
      },
    },
  );
  it("a check names it alone", async () => {
    const { log, check, path } = fresh();
    for (const session of ["bad", "good"])
      await log.append(
        { scope: "local", session },
        { batchId: "b", expectedSeq: 0, facts: [{ type: "session.opened", agent: "a", at: 1, v: 1 }] },
      );
    ruin(path, { scope: "local", session: "bad" });
    expect((await check()).damaged).toEqual(["local/bad"]);
  });
});
