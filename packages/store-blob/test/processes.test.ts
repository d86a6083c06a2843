import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { nodeFiles } from "../src/files/file-calls.ts";
import { monotonicClockName, ownIdentity } from "../src/files/process-identity.ts";
import { blobStore, fileBlobs } from "../src/index.ts";
import { startChild } from "./child-process.ts";
import { freshFolder } from "./fresh-folder.ts";
import { noteBatch, ref, titlesOf } from "./notes.ts";

const root = freshFolder();
let count = 0;
const freshPath = (): string => join(root, String(count++));

function open(folder: string, options: Partial<Parameters<typeof fileBlobs>[0]> = {}) {
  const store = blobStore({ blobs: fileBlobs({ folder, ...options }) });
  onTestFinished(() => store.close());
  return store;
}

it("a second process is refused with the id of the first; when that is killed in the middle of its work, all that it acknowledged is there", async () => {
  const folder = freshPath();
  const child = startChild(folder);
  onTestFinished(() => child.kill());
  let acknowledged = 0;
  while (acknowledged < 30) acknowledged = await child.next();
  const refused = open(folder);
  await expect(refused.log.head(ref)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: `The store ${folder} is in use by process ${child.pid}.`,
    details: { pid: child.pid },
  });
  await child.kill();
  // The same store continues when the folder is free.
  const titles = await titlesOf(refused.log);
  expect(titles.length).toBeGreaterThanOrEqual(acknowledged);
  expect(titles).toEqual(titles.map((_, at) => `b${at}.0`));
  expect((await refused.log.head(ref)).lease).toBeUndefined();
  expect(await refused.log.append(ref, noteBatch("b3", titles.length))).toEqual({ type: "dup", lastSeq: 4 });
  expect(readdirSync(folder).filter((name) => name.startsWith("lock"))).toEqual(["lock"]);
});

/** A lock as this process would write it. */
const lockText = (change: object): string =>
  JSON.stringify({ ...ownIdentity(), nonce: "old", leaseMs: 15_000, clock: monotonicClockName(), ...change });

it("a lock whose process id was given to another process since is taken over; one that cannot be read is not", async () => {
  const folder = freshPath();
  const first = open(folder);
  await first.log.append(ref, noteBatch("b1", 0));
  await first.close();
  writeFileSync(join(folder, "lock"), lockText({ started: "1" }));
  const second = open(folder);
  expect(await titlesOf(second.log)).toEqual(["b1.0"]);
  await second.close();
  writeFileSync(join(folder, "lock"), "{");
  await expect(open(folder).log.head(ref)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", fix: expect.stringContaining("delete") });
});

it("of many that find a dead process's lock one gets the folder", async () => {
  const folder = freshPath();
  const first = open(folder);
  await first.log.append(ref, noteBatch("first", 0));
  await first.close();
  writeFileSync(join(folder, "lock"), lockText({ pid: 2 ** 22 - 1, started: "1" }));
  const children = Array.from({ length: 3 }, () => startChild(folder));
  onTestFinished(async () => {
    await Promise.all(children.map((child) => child.kill()));
  });
  const firsts = await Promise.all(children.map((child) => child.next()));
  expect(firsts.filter((line) => line > 0).length).toBe(1);
  expect(firsts.filter((line) => line < 0).length).toBe(2);
});

it("a folder is open once in a process, free after it was closed, and empty of locks then", async () => {
  const folder = freshPath();
  const first = open(folder);
  await first.log.append(ref, noteBatch("b1", 0));
  await expect(open(folder).log.head(ref)).rejects.toMatchObject({
    message: expect.stringContaining(`this process ${process.pid} already`),
  });
  await first.close();
  await first.close();
  await expect(first.log.head(ref)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", message: expect.stringContaining("is closed") });
  expect(readdirSync(folder).filter((name) => name.startsWith("lock"))).toEqual([]);
  expect(await titlesOf(open(folder).log)).toEqual(["b1.0"]);
});

it("a network file system is refused unless that is forced", async () => {
  const files = { ...nodeFiles, kindOf: async () => 0x6969 };
  await expect(open(freshPath(), { files }).log.head(ref)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("(NFS)"),
  });
  expect(await open(freshPath(), { files, force: true }).log.append(ref, noteBatch("b1", 0))).toEqual({ type: "ok", lastSeq: 1 });
});

it("nothing is made before the first use, and files and folders are for this user alone", async () => {
  const folder = freshPath();
  const store = open(folder);
  expect(readdirSync(root)).not.toContain(folder.split("/").at(-1));
  await store.blobs.put("local", "../../Küche?.txt", { bytes: new Uint8Array([1]) });
  expect(await store.blobs.list("local")).toEqual(["../../Küche?.txt"]);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.startsWith("blobs/local/"));
  expect(names).toEqual(["blobs/local/=2e=2e=2f=2e=2e=2f=4b=c3=bcche=3f=2etxt"]);
  expect(readFileSync(join(folder, "lock"), "utf8")).toContain(`"pid":${process.pid}`);
});
