import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { freshFolder } from "../../test/fresh-folder.ts";
import { sqliteStore } from "../sqlite-store.ts";
import { keepWorker, takeWorker } from "./spare-worker.ts";

const folder = freshFolder();

/** The second after which a spare worker is ended passes only where a test lets it: on a busy machine it would pass by itself. */
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function taken() {
  const worker = takeWorker();
  onTestFinished(async () => void (await worker.terminate()));
  return worker;
}

it("gives the workers of closed stores to the next ones, and ends a fifth one that is left", async () => {
  const workers = Array.from({ length: 5 }, taken);
  const fifth = workers[4];
  if (fifth === undefined) throw new Error("There is no fifth worker.");
  const ended = once(fifth, "exit");
  for (const worker of workers) await keepWorker(worker);
  await ended;
  expect(Array.from({ length: 4 }, taken)).toEqual(workers.slice(0, 4));
  expect(workers).not.toContain(taken());
});

it("does not give away a worker that has died while it waited", async () => {
  const worker = taken();
  await keepWorker(worker);
  await worker.terminate();
  expect(taken()).not.toBe(worker);
});

it("ends the worker when no store was opened for a second", async () => {
  const worker = taken();
  await keepWorker(worker);
  vi.advanceTimersByTime(1_000);
  await once(worker, "exit");
  expect(taken()).not.toBe(worker);
});

it("keeps nothing of the file before: each store reads its own", async () => {
  const ref = { scope: "local", session: "s" };
  const facts = [{ type: "session.opened", agent: "a", at: 1, v: 1 }] as const;
  for (const name of ["one.db", "two.db"]) {
    const store = sqliteStore(join(folder, name));
    expect(await store.log.head(ref)).toMatchObject({ lastSeq: 0 });
    expect(await store.log.append(ref, { batchId: "b", expectedSeq: 0, facts })).toMatchObject({ type: "ok" });
    expect(await store.blobs.list("local")).toEqual([]);
    await store.blobs.put("local", name, { bytes: new Uint8Array(1) });
    await store.close();
  }
});
