import { join } from "node:path";
import type { FactDraft } from "@loopwright/core";
import { manualClock } from "@loopwright/core/memory";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import { describe, expect, it, onTestFinished } from "vitest";
import { blobStore, type ConditionalBlobs, fileBlobs } from "../src/index.ts";
import { storeLimits } from "../src/store-limits.ts";
import { freshFolder } from "./fresh-folder.ts";
import { memoryBlobs } from "./memory-blobs.ts";

const root = freshFolder();
let folders = 0;
const refOf = (at: number): SessionRef => ({ scope: "local", session: `s${at}` });

interface Counted {
  readonly blobs: ConditionalBlobs;
  readonly asked: string[];
}

/** The place, and what it was asked. */
function counted(blobs: ConditionalBlobs): Counted {
  const asked: string[] = [];
  const noted = <Rest extends readonly unknown[], T>(name: string, ask: (key: string, ...rest: Rest) => Promise<T>) => {
    return (key: string, ...rest: Rest): Promise<T> => {
      asked.push(`${name} ${key}`);
      return ask(key, ...rest);
    };
  };
  return {
    asked,
    blobs: {
      ...blobs,
      get: noted("get", (key) => blobs.get(key)),
      has: noted("has", (key) => blobs.has(key)),
      put: noted("put", (key, ...rest: [Uint8Array, ...never[]]) => blobs.put(key, ...rest)),
      remove: noted("remove", (key, ...rest: never[]) => blobs.remove(key, ...rest)),
      list: noted("list", (key, ...rest: never[]) => blobs.list(key, ...rest)),
    },
  };
}

const places: readonly (readonly [string, () => ConditionalBlobs])[] = [
  ["a folder", () => fileBlobs({ folder: join(root, String(folders++)) })],
  ["a place where many may write", () => memoryBlobs({ clock: manualClock() })],
];

/** A store that was opened on so many sessions which owe something, contain "apples", and all but five of which are held by an earlier process. */
async function storeWith(place: ConditionalBlobs, count: number): Promise<Counted & { readonly store: SessionStore }> {
  const found = counted(place);
  const store = blobStore({ blobs: found.blobs, searchSessionsMax: 20 });
  onTestFinished(() => store.close());
  for (let at = 0; at < count; at++) {
    const facts = [
      { type: "session.opened", agent: "helper", at, v: 1 },
      { type: "input.accepted", message: { role: "user", content: [{ type: "text", text: "apples" }] }, at, v: 1 },
    ] as unknown as readonly FactDraft[];
    await store.log.append(refOf(at), { expectedSeq: 0, batchId: "first", facts, due: 0 });
    if (at >= 5) await store.log.claim(refOf(at), { node: "n", leaseMs: 60_000 });
  }
  return { ...found, store };
}

describe.each(places)("what is asked of %s", (_, place) => {
  it.each<readonly [string, number, (store: SessionStore) => Promise<readonly unknown[]>]>([
    ["a page of a list", 2, ({ index }) => index.list("local", { limit: 10 })],
    ["a page in the middle of a list", 2, ({ index }) => index.list("local", { limit: 10, before: { updatedAt: 25, id: "s25" } })],
    ["a search for what every session says", 2, ({ index }) => index.search("local", "apples", { limit: 10 })],
    ["a sweep among sessions that leases hold", 20, ({ log }) => log.due({ now: Date.now() })],
  ])("for %s is the same with 30 sessions and with 120: at most %i requests", async (_, requestsMax, ask) => {
    const counts: number[] = [];
    for (const sessions of [30, 120]) {
      const { store, asked } = await storeWith(place(), sessions);
      await expect.poll(() => asked.length, { interval: 50 }).toBe(asked.length);
      await ask(store);
      asked.length = 0;
      expect(await ask(store)).not.toEqual([]);
      counts.push(asked.length);
    }
    expect(counts[1]).toBe(counts[0]);
    expect(counts[1]).toBeLessThanOrEqual(requestsMax);
  });
});

it("a list that was given up asks for nothing more", async () => {
  const clock = manualClock();
  const objects = memoryBlobs({ clock });
  await storeWith(objects, 60);
  const { blobs, asked } = counted(objects);
  const store = blobStore({ blobs });
  const caller = new AbortController();
  const reason = new Error("given up");
  const page = store.index.list("local", { limit: 50, signal: caller.signal });
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  caller.abort(reason);
  await expect(page).rejects.toBe(reason);
  const before = asked.length;
  await store.log.head(refOf(1));
  expect(asked.length - before).toBeLessThan(20);
});

it.each(places)("a search of more sessions than it reads in %s reports that it has not searched all of them", async (_, place) => {
  for (const [count, isReported] of [
    [19, false],
    [30, true],
  ] as const) {
    let reports = 0;
    const { store } = await storeWith(place(), count);
    const hits = await store.index.search("local", "apples", { onUnsearched: () => void reports++ });
    expect([hits.length, reports]).toEqual([Math.min(count, 20), isReported ? 1 : 0]);
  }
});

it("a search in a folder asks for nothing of sessions that have not changed, also when more of them are searched than logs are kept open", async () => {
  const count = storeLimits.openLogsMax + 200;
  const { blobs, asked } = counted({ ...memoryBlobs({ clock: manualClock() }), exclusive: { life: "one" } });
  const store = blobStore({ blobs });
  onTestFinished(() => store.close());
  for (let at = 0; at < count; at++) {
    const facts = [{ type: "session.changed", title: "apples", at, v: 1 }] as unknown as readonly FactDraft[];
    await store.log.append(refOf(at), { expectedSeq: 0, batchId: "first", facts });
  }
  await expect.poll(() => asked.length, { interval: 50 }).toBe(asked.length);
  expect(await store.index.search("local", "apples", { limit: count })).toHaveLength(count);
  asked.length = 0;
  expect(await store.index.search("local", "apples", { limit: count })).toHaveLength(count);
  expect(asked).toEqual([]);
});

it.each(places)("a search in %s ends where the texts have more characters than it looks at, and reports that", async (_, place) => {
  const store = blobStore({ blobs: place(), searchCharactersMax: 150 * 1_000 });
  onTestFinished(() => store.close());
  for (let at = 0; at < 300; at++) {
    const facts = [{ type: "session.changed", title: `apples ${"x".repeat(1_000)}`, at, v: 1 }] as unknown as readonly FactDraft[];
    await store.log.append(refOf(at), { expectedSeq: 0, batchId: "first", facts });
  }
  let reports = 0;
  const hits = await store.index.search("local", "apples", { limit: 300, onUnsearched: () => void reports++ });
  expect([hits[0]?.session.id, hits.length, reports]).toEqual(["s299", 200, 1]);
});
