import { join } from "node:path";
import { blobStoreKit, draftStoreKit, leaseKit, manualClock, runKit, sessionIndexKit, sessionLogKit } from "@loopwright/core/testing";
import { afterEach, describe, it } from "vitest";
import { type SqliteStore, sqliteStore } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";

const folder = freshFolder();
const opened: SqliteStore[] = [];
let count = 0;

/** A store on a fresh file, and how to open the file again. */
function fresh() {
  const path = join(folder, `${count++}.db`);
  const clock = manualClock();
  const open = (): SqliteStore => {
    const store = sqliteStore({ path, clock });
    opened.push(store);
    return store;
  };
  const store = open();
  const reopen = async (): Promise<SqliteStore> => {
    await store.close();
    return open();
  };
  return { ...store, clock, reopen };
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

async function logUnderTest() {
  const { log, clock, reopen } = fresh();
  return { log, advance: (ms: number) => clock.advance(ms), reopen: async () => (await reopen()).log };
}

describe("session log", () => runKit(it, sessionLogKit, { make: logUnderTest }));
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
