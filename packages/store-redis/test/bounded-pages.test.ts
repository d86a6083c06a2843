import type { FactDraft } from "@loopwright/core";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { commandCount } from "./command-count.ts";
import { missing, redisFixture } from "./redis-fixture.ts";

const fixture = redisFixture();
const refOf = (at: number): SessionRef => ({ scope: "local", session: `s${at}` });

/** A store with so many sessions that owe something, all but five of which a lease holds, and that contain "apples". */
async function storeWith(count: number): Promise<SessionStore> {
  const store = fixture.open({ prefix: fixture.prefix(), searchSessionsMax: 20 });
  for (let at = 0; at < count; at++) {
    const facts = [
      { type: "session.opened", agent: "helper", at, v: 1 },
      { type: "input.accepted", message: { role: "user", content: [{ type: "text", text: "apples" }] }, at, v: 1 },
    ] as unknown as readonly FactDraft[];
    await store.log.append(refOf(at), { expectedSeq: 0, batchId: "first", facts, due: 0 });
    if (at >= 5) await store.log.claim(refOf(at), { node: "n", leaseMs: 60_000 });
  }
  return store;
}

describe.skipIf(missing !== undefined)("the work of Redis", () => {
  it.each<readonly [string, (store: SessionStore) => Promise<unknown>]>([
    ["a page of a list", ({ index }) => index.list("local", { limit: 10 })],
    ["a page in the middle of a list", ({ index }) => index.list("local", { limit: 10, before: { updatedAt: 30, id: "s30" } })],
    ["a search for what every session says", ({ index }) => index.search("local", "apples", { limit: 10 })],
    ["a sweep among sessions that leases hold", ({ log }) => log.due({ now: Date.now() })],
  ])("for %s is the same with 60 sessions and with 240", async (_, ask) => {
    const counts: number[] = [];
    for (const sessions of [60, 240]) {
      const store = await storeWith(sessions);
      await ask(store);
      const before = await commandCount(fixture.redis);
      expect(await ask(store)).not.toEqual([]);
      counts.push((await commandCount(fixture.redis)) - before);
    }
    expect(counts[0]).toBeGreaterThan(0);
    expect(counts[1]).toBe(counts[0]);
  });

  it("ends with a search that was given up", async () => {
    const store = fixture.open({ prefix: fixture.prefix() });
    for (let at = 0; at < 300; at++)
      await store.log.append(refOf(at), {
        expectedSeq: 0,
        batchId: "first",
        facts: [{ type: "session.changed", title: "apples", at, v: 1 }],
      });
    const whole = await commandCount(fixture.redis);
    await store.index.search("local", "apples");
    const given = new AbortController();
    const before = await commandCount(fixture.redis);
    const search = store.index.search("local", "apples", { signal: given.signal });
    given.abort(new Error("given up"));
    await expect(search).rejects.toThrow("given up");
    await store.log.head(refOf(1));
    expect((await commandCount(fixture.redis)) - before).toBeLessThan((before - whole) / 3);
  });
});

describe.skipIf(missing !== undefined)("a search of more sessions than it reads", () => {
  it("reports that it has not searched all of them, and one that reads all reports nothing", async () => {
    for (const [count, isReported] of [
      [19, false],
      [30, true],
    ] as const) {
      let reports = 0;
      const { index } = await storeWith(count);
      const hits = await index.search("local", "apples", { onUnsearched: () => void reports++ });
      expect([hits.length, reports]).toEqual([Math.min(count, 20), isReported ? 1 : 0]);
    }
  });
});
