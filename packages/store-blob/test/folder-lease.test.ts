import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { manualClock } from "@loopwright/core/memory";
import { expect, it, onTestFinished, vi } from "vitest";
import { type FileCalls, nodeFiles } from "../src/files/file-calls.ts";
import { ownIdentity } from "../src/files/process-identity.ts";
import { blobStore, fileBlobs } from "../src/index.ts";
import { type Child, type ChildOptions, noContainers, startChild } from "./child-process.ts";
import { freshFolder } from "./fresh-folder.ts";
import { noteBatch, ref, titlesOf } from "./notes.ts";

// Processes are started here, and leases are waited for: on a busy machine that takes its time.
vi.setConfig({ testTimeout: 60_000 });

const root = freshFolder();
let count = 0;
const freshPath = (): string => join(root, String(count++));
const leaseMs = 1_000;

function start(folder: string, options: ChildOptions): Child {
  const child = startChild(folder, { leaseMs, ...options });
  onTestFinished(() => child.kill());
  return child;
}

function open(folder: string, options: Partial<Parameters<typeof fileBlobs>[0]> = {}) {
  const store = blobStore({ blobs: fileBlobs({ folder, ...options }) });
  onTestFinished(() => store.close());
  return store;
}

async function acknowledgedBy(child: Child, seq: number): Promise<number> {
  for (;;) {
    const next = await child.next();
    if (next >= seq || next < 0) return next;
  }
}

/** The lock as a holder of another machine has it, which no process here can look up. */
function makeForeign(folder: string): void {
  const lock = JSON.parse(readFileSync(join(folder, "lock"), "utf8"));
  writeFileSync(join(folder, "lock"), JSON.stringify({ ...lock, machine: "elsewhere", clock: "" }));
}

const inContainers = it.skipIf(noContainers !== undefined);
const why = noContainers === undefined ? "" : ` (skipped: ${noContainers})`;

inContainers(`a container that was killed comes back on its folder when its lease is over, without a hand${why}`, async () => {
  const folder = freshPath();
  const first = start(folder, { isContainer: true });
  const acknowledged = await acknowledgedBy(first, 30);
  await first.kill();
  expect(existsSync(join(folder, "lock"))).toBe(true);
  const second = start(folder, { isContainer: true });
  expect(await second.next()).toBeGreaterThan(acknowledged);
  await second.kill();
  const titles = await titlesOf(open(folder).log);
  expect(titles.length).toBeGreaterThan(acknowledged);
  expect(titles).toEqual(titles.map((_, at) => `b${at}.0`));
  expect(readdirSync(folder).filter((name) => name.startsWith("lock"))).toEqual(["lock"]);
});

inContainers(`of two containers that live the second is refused, whatever their process ids${why}`, async () => {
  const folder = freshPath();
  const first = start(folder, { isContainer: true });
  await acknowledgedBy(first, 5);
  const second = start(folder, { isContainer: true });
  expect(await second.next()).toBe(-1);
  expect(await acknowledgedBy(first, 10)).toBeGreaterThanOrEqual(10);
});

inContainers(`a container that was paused for longer than its lease writes nothing more when it goes on${why}`, async () => {
  const folder = freshPath();
  const first = start(folder, { isContainer: true });
  const before = await acknowledgedBy(first, 20);
  first.pause();
  const second = start(folder, { isContainer: true });
  const taken = await second.next();
  expect(taken).toBeGreaterThan(before);
  first.resume();
  let written: number;
  // What it printed before it was paused may still be in the pipe.
  do written = await first.next();
  while (written > 0);
  expect(written).toBe(-1);
  const after = await acknowledgedBy(second, taken + 10);
  await second.kill();
  const titles = await titlesOf(open(folder).log);
  expect(titles.length).toBeGreaterThanOrEqual(after);
  expect(titles).toEqual(titles.map((_, at) => `b${at}.0`));
});

it("a write and a removal that were under way when the folder was taken over come to nothing, and so does all that follows", async () => {
  const folder = freshPath();
  let gate: Promise<void> | undefined;
  const reached = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const files: FileCalls = {
    ...nodeFiles,
    async link(from, to) {
      if (gate && to.includes("/slots/")) reached[0]?.resolve();
      if (to.includes("/slots/")) await gate;
      return nodeFiles.link(from, to);
    },
    async rename(from, to) {
      if (gate && from.includes("/blobs/")) reached[1]?.resolve();
      if (from.includes("/blobs/")) await gate;
      return nodeFiles.rename(from, to);
    },
  };
  // Its clock stands still, so it never renews: a process that is paused.
  const paused = open(folder, { files, clock: manualClock(), leaseMs });
  await paused.log.append(ref, noteBatch("b0", 0));
  await paused.blobs.put("local", "kept", { bytes: new Uint8Array([1]) });
  const opened = Promise.withResolvers<void>();
  gate = opened.promise;
  const append = paused.log.append(ref, noteBatch("late", 1));
  const removal = paused.blobs.remove("local", "kept");
  await Promise.all(reached.map(({ promise }) => promise));
  makeForeign(folder);
  const next = start(folder, {});
  const taken = await next.next();
  opened.resolve();
  await expect(append).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", message: expect.stringContaining("took the store") });
  await removal;
  for (const refused of [paused.log.head(ref), paused.log.read(ref), paused.blobs.put("local", "new", { bytes: new Uint8Array([2]) })])
    await expect(refused).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await acknowledgedBy(next, taken + 5);
  await paused.close();
  expect(existsSync(join(folder, "lock"))).toBe(true);
  await next.kill();
  const found = open(folder);
  const titles = await titlesOf(found.log);
  expect(titles).toEqual(titles.map((_, at) => `b${at}.0`));
  expect(await found.blobs.list("local")).toEqual(["kept"]);
});

/** Moves the clock on in small steps, each time something waits for it, until the promise settles. */
async function whileTimePasses<T>(clock: ReturnType<typeof manualClock>, promise: Promise<T>, beforeStep = () => {}): Promise<T> {
  let isSettled = false;
  const settled = promise.finally(() => {
    isSettled = true;
  });
  settled.catch(() => undefined);
  while (!isSettled) {
    await new Promise((resolve) => setImmediate(resolve));
    beforeStep();
    if (clock.pending > 0) clock.advance(10);
  }
  return settled;
}

/** A lock of a process that cannot be looked up here, and the renewals of its lease. */
function foreignLock(folder: string) {
  mkdirSync(join(folder, ".drafts", "other"), { recursive: true });
  const text = { ...ownIdentity(), machine: "elsewhere", nonce: "other", leaseMs, clock: "" };
  writeFileSync(join(folder, "lock"), JSON.stringify(text));
  const renew = (at: number): void => writeFileSync(join(folder, ".drafts", "other", "renewed"), String(at));
  renew(0);
  return { renew };
}

it("the lock of another machine is taken over when its lease was not renewed for its whole time on the own clock, not before", async () => {
  const folder = freshPath();
  foreignLock(folder);
  const clock = manualClock();
  const store = open(folder, { clock });
  expect(await whileTimePasses(clock, store.log.append(ref, noteBatch("b0", 0)))).toEqual({ type: "ok", lastSeq: 1 });
  expect(clock.monotonic()).toBeGreaterThanOrEqual(leaseMs);
});

it("the lock of another machine that is renewed meanwhile is refused", async () => {
  const folder = freshPath();
  const { renew } = foreignLock(folder);
  const clock = manualClock();
  const waiting = whileTimePasses(clock, open(folder, { clock }).log.head(ref), () => {
    if (clock.monotonic() >= leaseMs - 100) renew(1);
  });
  await expect(waiting).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("of another machine or container"),
    fix: expect.stringContaining("its lease runs out"),
  });
  expect(clock.monotonic()).toBeGreaterThanOrEqual(leaseMs - 100);
});

it("a holder renews three times in each lease, and not after it was closed", async () => {
  const folder = freshPath();
  const clock = manualClock();
  const store = open(folder, { clock, leaseMs: 900 });
  await store.log.append(ref, noteBatch("b0", 0));
  const [nonce = ""] = readdirSync(join(folder, ".drafts"));
  const renewed = (): string => readFileSync(join(folder, ".drafts", nonce, "renewed"), "utf8");
  expect(renewed()).toBe("0");
  for (const at of ["300", "600", "900"]) {
    clock.advance(300);
    // The file is there before the next renewal is planned.
    await expect.poll(() => [renewed(), clock.pending]).toEqual([at, 1]);
  }
  await store.close();
  expect([clock.pending, readdirSync(join(folder, ".drafts")), existsSync(join(folder, "lock"))]).toEqual([0, [], false]);
});

it("a store that is closed while it waits for a lease waits no more", async () => {
  const folder = freshPath();
  foreignLock(folder);
  const clock = manualClock();
  const store = open(folder, { clock });
  const waiting = store.log.head(ref);
  waiting.catch(() => undefined);
  await expect.poll(() => clock.pending).toBe(1);
  await whileTimePasses(clock, store.close());
  await expect(waiting).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(clock.monotonic()).toBeLessThan(leaseMs);
});
