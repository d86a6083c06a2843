import type { SessionStore } from "@loopwright/core";
import { countedMemoryStore } from "@loopwright/core/internals";
import { manualClock, memoryStore, withStoreDeadlines } from "@loopwright/core/memory";
import type { IndexQuery } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { blobStoreKit } from "../../src/blobs/blob-store-kit.ts";
import { sessionIndexKit } from "../../src/index/session-index-kit.ts";
import { runKit } from "../../src/kit/kit.ts";
import { leaseKit } from "../../src/lease/lease-kit.ts";
import { sessionLogKit } from "../../src/log/session-log-kit.ts";
import { noteBatch, sampleRef as ref } from "../../src/samples/sample-facts.ts";
import { snapshotStoreKit } from "../../src/snapshots/snapshot-store-kit.ts";

/** A store whose questions are done, and answered when `answer` is called: at once, or on request. */
function silent(deadlineMs = 1_000) {
  const clock = manualClock();
  const real = memoryStore({ clock });
  const held = Promise.withResolvers<void>();
  const hold = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get(target, key, receiver) {
        const method: unknown = Reflect.get(target, key, receiver);
        if (typeof method !== "function" || key === "subscribe") return method;
        return async (...args: readonly unknown[]) => {
          const answer: unknown = await Reflect.apply(method, target, args);
          await held.promise;
          return answer;
        };
      },
    });
  const store: SessionStore = {
    ...{ log: hold(real.log), index: hold(real.index), blobs: hold(real.blobs), snapshots: hold(real.snapshots) },
    close: () => held.promise,
  };
  return { clock, real, store: withStoreDeadlines(store, { clock, deadlineMs }), answer: held.resolve, fail: held.reject };
}

it("an append that is not answered in time is `unknown`, and not before its time", async () => {
  const { store, clock, real, answer } = silent();
  let outcome: unknown;
  const appended = store.log.append(ref, noteBatch("b1", 0)).then((value) => {
    outcome = value;
  });
  clock.advance(999);
  await Promise.resolve();
  expect(outcome).toBeUndefined();
  clock.advance(1);
  await appended;
  expect(outcome).toEqual({ type: "unknown" });
  answer();
  expect(await real.log.append(ref, noteBatch("b1", 0))).toEqual({ type: "dup", lastSeq: 1 });
});

const questions: readonly (readonly [string, (store: SessionStore) => Promise<unknown>])[] = [
  ["log.read", ({ log }) => log.read(ref)],
  ["log.head", ({ log }) => log.head(ref)],
  ["log.claim", ({ log }) => log.claim(ref, { node: "n", leaseMs: 1_000 })],
  ["log.renew", ({ log }) => log.renew(ref, { epoch: 1, leaseMs: 1_000 })],
  ["log.release", ({ log }) => log.release(ref, 1)],
  ["log.due", ({ log }) => log.due({ now: 0 })],
  ["log.setDue", ({ log }) => log.setDue(ref, { expectedSeq: 0, due: 1 })],
  ["log.remove", ({ log }) => log.remove(ref)],
  ["index.list", ({ index }) => index.list("local")],
  ["index.get", ({ index }) => index.get("local", "first")],
  ["index.search", ({ index }) => index.search("local", "word")],
  ["blobs.put", ({ blobs }) => blobs.put("local", "k", { bytes: new Uint8Array(1) })],
  ["blobs.get", ({ blobs }) => blobs.get("local", "k")],
  ["blobs.remove", ({ blobs }) => blobs.remove("local", "k")],
  ["blobs.list", ({ blobs }) => blobs.list("local")],
  ["snapshots.put", ({ snapshots }) => snapshots.put(ref, "lane", 1)],
  ["snapshots.get", ({ snapshots }) => snapshots.get(ref, "lane")],
  ["snapshots.remove", ({ snapshots }) => snapshots.remove(ref, "lane")],
  ["close", (store) => store.close()],
];

describe("a question that is not answered in time is STORE_UNAVAILABLE", () => {
  for (const [name, ask] of questions)
    it(name, async () => {
      const { store, clock } = silent();
      const asked = ask(store);
      clock.advance(1_000);
      await expect(asked).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true, details: { deadlineMs: 1_000 } });
    });
});

it("a late answer of the store is dropped, also when it is an error", async () => {
  const { store, clock, fail } = silent();
  const asked = store.log.head(ref);
  clock.advance(1_000);
  await expect(asked).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  fail(new Error("late"));
  // An unhandled error would fail this test.
  await new Promise<void>((resolve) => setImmediate(resolve));
});

it("an answer in time leaves no timer behind, and rebuilding an index may take as long as it needs", async () => {
  const { store, clock, answer } = silent();
  const rebuilt = store.index.rebuild("local");
  clock.advance(60_000);
  answer();
  expect(await rebuilt).toBe(0);
  await store.log.head(ref);
  expect(clock.pending).toBe(0);
});

it("aborts the signal of an index after its deadline and when its caller gives up", async () => {
  const clock = manualClock();
  const real = memoryStore();
  const signals: (AbortSignal | undefined)[] = [];
  const never = (query: { readonly signal?: AbortSignal } | undefined): Promise<never> => {
    signals.push(query?.signal);
    return new Promise(() => {});
  };
  const index = {
    ...real.index,
    list: (_: string, query?: IndexQuery) => never(query),
    search: (_: string, __: string, query?: IndexQuery) => never(query),
  };
  const store = withStoreDeadlines({ ...real, index }, { clock, deadlineMs: 1_000 });
  const listed = store.index.list("local").catch(({ code }: { readonly code: string }) => code);
  const caller = new AbortController();
  void store.index.search("local", "apples", { signal: caller.signal }).catch(() => {});
  expect(signals.map((signal) => signal?.aborted)).toEqual([false, false]);
  caller.abort();
  expect(signals.map((signal) => signal?.aborted)).toEqual([false, true]);
  clock.advance(1_000);
  expect(await listed).toBe("STORE_UNAVAILABLE");
  expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
});

describe("a store with deadlines keeps every promise", () => {
  const lacks = ["reopen", "corrupt", "ruin", "tamper", "rollback", "full", "unknown"].map((capability) => ({
    capability,
    reason: "the store is in memory",
  }));
  const make = async () => {
    const clock = manualClock();
    const counted = countedMemoryStore({ clock, searchSessionsMax: 20 });
    const store = withStoreDeadlines(counted.store, { clock });
    return { ...store, advance: (ms: number) => clock.advance(ms), another: async () => store.log, work: async () => counted.work() };
  };
  describe("session log", () => runKit(it, sessionLogKit, { lacks, make }));
  describe("leases", () => runKit(it, leaseKit, { lacks, make }));
  describe("session index", () => runKit(it, sessionIndexKit, { lacks, make }));
  describe("blob store", () => runKit(it, blobStoreKit, { lacks, make }));
  describe("snapshot store", () => runKit(it, snapshotStoreKit, { lacks, make }));
});
