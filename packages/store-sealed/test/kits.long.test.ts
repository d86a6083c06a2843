import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manualClock } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { type SqliteStore, sqliteStore } from "@loopwright/store-sqlite";
import { blobStoreKit, leaseKit, runKit, sessionIndexKit, sessionLogKit, snapshotStoreKit } from "@loopwright/testing";
import { afterAll, afterEach, describe, it } from "vitest";
import { sealedStore, wrappedKeys } from "../src/index.ts";
import { sealedLacks as lacks, master } from "./sealed-lacks.ts";

const folder = mkdtempSync(join(tmpdir(), "sealed-"));
const opened: SessionStore[] = [];
let count = 0;

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An encrypted store over a fresh file, with its keys in another one, and how to open both again. */
function overFile() {
  const at = join(folder, `${count++}`);
  const clock = manualClock();
  const open = (): SessionStore => {
    const below: SqliteStore = sqliteStore({ path: `${at}.db`, clock });
    const keyStore = sqliteStore({ path: `${at}.keys.db`, clock });
    opened.push(below, keyStore);
    return sealedStore(below, { keys: wrappedKeys({ blobs: keyStore.blobs, master }) });
  };
  const store = open();
  const reopen = async (): Promise<SessionStore> => {
    await store.close();
    return open();
  };
  return { store, clock, open, reopen };
}

describe("an encrypted store over SQLite", () => {
  const logUnderTest = async () => {
    const { store, clock, open, reopen } = overFile();
    return {
      log: store.log,
      advance: (ms: number) => clock.advance(ms),
      reopen: async () => (await reopen()).log,
      another: async () => open().log,
    };
  };
  runKit(it, sessionLogKit, { make: logUnderTest, lacks });
  runKit(it, leaseKit, { make: logUnderTest, lacks });
  runKit(it, sessionIndexKit, {
    make: async () => {
      const { store, reopen } = overFile();
      return { index: store.index, log: store.log, reopen: async () => (await reopen()).index };
    },
    lacks,
  });
  runKit(it, blobStoreKit, {
    make: async () => {
      const { store, reopen } = overFile();
      return { blobs: store.blobs, log: store.log, reopen: async () => (await reopen()).blobs };
    },
    lacks,
  });
  runKit(it, snapshotStoreKit, {
    make: async () => {
      const { store, reopen } = overFile();
      return { snapshots: store.snapshots, log: store.log, reopen: async () => (await reopen()).snapshots };
    },
    lacks,
  });
});
