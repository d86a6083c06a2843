import type { FactDraft } from "@loopwright/core";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import { describe, expect, it, onTestFinished } from "vitest";
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
  it.each<readonly [string, number, (store: SessionStore) => Promise<unknown>]>([
    // The names, and two commands for each session.
    ["a page of a list", 21, ({ index }) => index.list("local", { limit: 10 })],
    // One session more, because the one that the page begins behind may be among them.
    ["a page in the middle of a list", 25, ({ index }) => index.list("local", { limit: 10, before: { updatedAt: 30, id: "s30" } })],
    // One script, the names, and the end of each of the 20 logs that it looks at.
    ["a search for what every session says", 22, ({ index }) => index.search("local", "apples", { limit: 10 })],
    ["a sweep among sessions that leases hold", 20, ({ log }) => log.due({ now: Date.now() })],
  ])("for %s is the same with 60 sessions and with 240: at most %i commands", async (_, commandsMax, ask) => {
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
    expect(counts[1]).toBeLessThanOrEqual(commandsMax);
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

describe.skipIf(missing !== undefined)("a search", () => {
  it("finds what another process has written, and nothing that it has removed", async () => {
    const prefix = fixture.prefix();
    const [searching, writing] = [fixture.open({ prefix }), fixture.open({ prefix })];
    const found = async (): Promise<readonly string[]> =>
      (await searching.index.search("local", "apples")).map(({ session }) => session.id);
    const write = async (batchId: string, expectedSeq: number, title: string): Promise<void> => {
      // Of one moment: only the end of the log shows that it has grown.
      const facts = [{ type: "session.changed", title, at: 7, v: 1 }] as unknown as readonly FactDraft[];
      await writing.log.append(refOf(1), { expectedSeq, batchId, facts });
    };
    await write("first", 0, "pears");
    expect(await found()).toEqual([]);
    await write("second", 1, "apples");
    expect(await found()).toEqual(["s1"]);
    await write("third", 2, "plums");
    expect(await found()).toEqual([]);
    await write("fourth", 3, "apples");
    expect(await found()).toEqual(["s1"]);
    await writing.log.remove(refOf(1));
    expect(await found()).toEqual([]);
  });

  it("keeps nothing of texts that Redis did not take: the next one looks for them again", async () => {
    const store = fixture.open({ prefix: fixture.prefix() });
    const inputOf = (inputId: string, content: string) =>
      ({ type: "input.accepted", message: { role: "user", content }, inputId, runId: "r", mode: "enqueue", at: 1, v: 1 }) as const;
    // The first message is the title, which needs no kept text.
    await store.log.append(refOf(1), { expectedSeq: 0, batchId: "first", facts: [inputOf("a", "Hello."), inputOf("b", "apples")] });
    const memoryMax =
      String(await fixture.redis.command("CONFIG", "GET", "maxmemory"))
        .split(/\s+/)
        .at(-1) ?? "0";
    await fixture.redis.command("CONFIG", "SET", "maxmemory", "1");
    onTestFinished(() => fixture.redis.command("CONFIG", "SET", "maxmemory", memoryMax).then(() => undefined));
    expect(await store.index.search("local", "apples").catch(() => [])).toEqual([]);
    await fixture.redis.command("CONFIG", "SET", "maxmemory", memoryMax);
    expect(await store.index.search("local", "apples")).toHaveLength(1);
  });

  it("ends where the texts have more characters than it looks at, and reports that", async () => {
    const store = fixture.open({ prefix: fixture.prefix(), searchCharactersMax: 150 * 1_000 });
    for (let at = 0; at < 300; at++)
      await store.log.append(refOf(at), {
        expectedSeq: 0,
        batchId: "first",
        facts: [{ type: "session.changed", title: `apples ${"x".repeat(1_000)}`, at, v: 1 }] as unknown as readonly FactDraft[],
      });
    let reports = 0;
    const hits = await store.index.search("local", "apples", { limit: 300, onUnsearched: () => void reports++ });
    expect([hits[0]?.session.id, hits.length, reports]).toEqual(["s299", 200, 1]);
  });
});
