import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { manualClock } from "@loopwright/core/memory";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import { blobStoreKit, type Lack, leaseKit, runKit, sessionIndexKit, sessionLogKit, snapshotStoreKit } from "@loopwright/testing";
import { afterAll, afterEach, describe, it } from "vitest";
import { acmeStore } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "acme-store-"));
const opened: SessionStore[] = [];
let count = 0;

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A store on a fresh file, and what a kit may do to it. */
function fresh() {
  const path = join(folder, `${count++}.db`);
  const clock = manualClock();
  const open = (): SessionStore => {
    const store = acmeStore({ path, clock });
    opened.push(store);
    return store;
  };
  const store = open();
  const reopen = async (): Promise<SessionStore> => {
    await store.close();
    return open();
  };
  /** Overwrites what the file holds of a session with nonsense, past the store. */
  const ruin = async ({ scope, session }: SessionRef): Promise<void> => {
    const database = new DatabaseSync(path);
    database.prepare("UPDATE facts SET body = 'nonsense' WHERE scope = ? AND session = ?").run(scope, session);
    database.prepare("UPDATE sessions SET projection = 'nonsense' WHERE scope = ? AND id = ?").run(scope, session);
    database.close();
  };
  return { store, clock, open, reopen, ruin };
}

async function log() {
  const { store, clock, open, reopen, ruin } = fresh();
  return {
    log: store.log,
    advance: (ms: number) => clock.advance(ms),
    reopen: async () => (await reopen()).log,
    another: async () => open().log,
    ruin,
  };
}

/** What this store cannot do, each with the reason that is shown with the cases skipped for it. */
const lacks: readonly Lack[] = [
  { capability: "subscribe", reason: "readers of another process poll" },
  { capability: "corrupt", reason: "facts carry no checksums" },
  { capability: "tamper", reason: "facts are not chained" },
  { capability: "rollback", reason: "a file that was put back is taken as it is" },
  { capability: "gaps", reason: "a file that was put back is taken as it is" },
  { capability: "marks", reason: "a file that was put back is taken as it is" },
  { capability: "full", reason: "the file has no limit of its own" },
  { capability: "unknown", reason: "an answer cannot be lost within a process" },
  { capability: "work", reason: "SQLite does not count the rows that it reads" },
];

describe("the log", () => runKit(it, sessionLogKit, { make: log, lacks }));
describe("leases", () => runKit(it, leaseKit, { make: log, lacks }));
describe("the index", () =>
  runKit(it, sessionIndexKit, {
    make: async () => {
      const { store, reopen, ruin } = fresh();
      return { index: store.index, log: store.log, reopen: async () => (await reopen()).index, ruin };
    },
    lacks,
  }));
describe("blobs", () =>
  runKit(it, blobStoreKit, {
    make: async () => {
      const { store, reopen } = fresh();
      return { blobs: store.blobs, log: store.log, reopen: async () => (await reopen()).blobs };
    },
  }));
describe("snapshots", () =>
  runKit(it, snapshotStoreKit, {
    make: async () => {
      const { snapshots, log: own } = fresh().store;
      return { snapshots, log: own };
    },
  }));
