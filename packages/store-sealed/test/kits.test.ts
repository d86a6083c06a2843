import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manualClock, memoryStore } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { type SqliteStore, sqliteStore } from "@loopwright/store-sqlite";
import { blobStoreKit, leaseKit, runKit, sessionIndexKit, sessionLogKit, snapshotStoreKit } from "@loopwright/testing";
import { afterAll, afterEach, describe, it } from "vitest";
import { sealedStore, wrappedKeys } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "sealed-"));
const opened: SessionStore[] = [];
let count = 0;

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const master = { current: "m1", keys: { m1: new Uint8Array(32).fill(7) } };

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

/** The same in memory. */
function inMemory(): { readonly store: SessionStore; readonly clock: ReturnType<typeof manualClock> } {
  const clock = manualClock();
  return { store: sealedStore(memoryStore({ clock }), { keys: wrappedKeys({ blobs: memoryStore().blobs, master }) }), clock };
}

const ofStore = (reason: string, ...capabilities: string[]) => capabilities.map((capability) => ({ capability, reason }));
const behind = ofStore(
  "what happens behind the store's back is that of the store below",
  "corrupt",
  "tamper",
  "rollback",
  "gaps",
  "marks",
  "ruin",
  "full",
  "unknown",
  "work",
);
const single = ofStore("one process", "reopen", "another");

describe("an encrypted store over SQLite", () => {
  const lacks = [...behind, ...ofStore("a search finds whole words", "beginnings")];
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

describe("an encrypted store in memory", () => {
  const lacks = [...behind, ...single, ...ofStore("a search finds whole words", "beginnings")];
  runKit(it, sessionLogKit, {
    make: async () => {
      const { store, clock } = inMemory();
      return { log: store.log, advance: (ms: number) => clock.advance(ms) };
    },
    lacks,
  });
  runKit(it, sessionIndexKit, { make: async () => inMemory().store, lacks });
  runKit(it, blobStoreKit, { make: async () => inMemory().store, lacks });
});
