import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { BlobStore, SessionRef } from "@loopwright/core/ports";
import { blobStoreKit, draftStoreKit, leaseKit, manualClock, runKit, sessionIndexKit, sessionLogKit } from "@loopwright/core/testing";
import { afterEach, describe, expect, it } from "vitest";
import { type SqliteStore, sqliteStore } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";

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
    damage: async (ref: SessionRef, seq: number) => damageFact(path, ref, seq),
    fill: () => fillWith(blobs),
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

describe("session log", () =>
  runKit(it, sessionLogKit, {
    make: logUnderTest,
    lacks: [{ capability: "unknown", reason: "an answer is lost only with the worker: `worker-calls.test.ts`" }],
  }));
describe("leases", () => runKit(it, leaseKit, { make: logUnderTest }));
describe("session index", () =>
  runKit(it, sessionIndexKit, {
    make: async () => {
      const { log, index, reopen } = fresh();
      return { log, index, reopen: async () => (await reopen()).index };
    },
  }));
describe("blob store", () =>
  runKit(it, blobStoreKit, {
    make: async () => {
      const { blobs, reopen } = fresh();
      return { blobs, reopen: async () => (await reopen()).blobs };
    },
  }));
describe("draft store", () => runKit(it, draftStoreKit, { make: async () => fresh() }));
