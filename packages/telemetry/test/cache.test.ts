import { createAgent, createSession, execute } from "@loopwright/core";
import { fixedPrices, memoryStore, scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { cacheRoute, cacheStream, cacheWatch, type EventStore, type FindingsPage, findingsOf, memoryEvents } from "../src/index.ts";
import { telemetryFile } from "../src/sqlite/index.ts";
import { anne, telemetryServer } from "./telemetry-server.ts";

const prices = fixedPrices({ small: { inputUsd: 10, outputUsd: 10, cacheReadUsd: 1 } });

/** Runs of one session; each has the usage and the prompt of its place. */
async function findings(
  calls: readonly { readonly cacheRead?: number; readonly input?: number; readonly prompt?: string; readonly tool?: string }[],
) {
  const events = memoryEvents();
  const cache = cacheWatch({ events, prices });
  let at = -1;
  const provider = cache.watch(
    scripted(
      () => {
        const { cacheRead = 0, input = 100 } = calls[at] ?? {};
        return { text: "Hello.", usage: { input, cacheRead, output: 1 } };
      },
      { model: "small" },
    ),
  );
  const agent = createAgent({ name: "helper", provider, prompt: () => calls[at]?.prompt ?? "Be kind." });
  const session = createSession({
    agent,
    id: "s1",
    store: memoryStore(),
    observers: [cache.observer],
    access: { scope: "team", user: "anne" },
  });
  for (const _ of calls) {
    at += 1;
    await execute(session, "SECRET-QUESTION").result();
  }
  return { events, found: (await findingsOf(events, { scope: "team", session: "s1" })).findings };
}

describe("the cache explainer", () => {
  it("finds a hit where the request continues the one before, and names the system part that broke the cache, with the money lost", async () => {
    const { found } = await findings([
      { input: 5_000 },
      { input: 100, cacheRead: 5_000 },
      { input: 5_200, prompt: "Be kind. It is 12:01:07." },
    ]);
    expect(found.map(({ verdict }) => verdict)).toEqual(["first", "hit", "changed"]);
    expect(found[2]).toMatchObject({ changed: { kind: "system", name: "system 1 (agent)" }, repeatableTokens: 5_100, cachedTokens: 0 });
    // 5,100 tokens at 9 dollars a million more than from the cache.
    expect(found[2]?.lostUsd).toBeCloseTo(0.0459, 9);
    expect(found[1]?.lostUsd).toBe(0);
  });

  it("distinguishes a cache that has expired from one that the request broke", async () => {
    const { found } = await findings([{ input: 5_000 }, { input: 5_100, cacheRead: 0 }, { input: 300 }]);
    expect(found[1]).toMatchObject({ verdict: "expired", repeatableTokens: 5_000, cachedTokens: 0 });
    expect(found[1]).not.toHaveProperty("changed");
  });

  it.each([
    ["memory", () => memoryEvents()],
    ["a SQLite file", () => telemetryFile({ path: ":memory:" }).events],
  ])("reads one page of one session in %s, whatever else the scope has recorded", async (_, open) => {
    const stored = open();
    const asked: (readonly [number | undefined, number])[] = [];
    const events: EventStore = {
      append: (stream, added) => stored.append(stream, added),
      async read(stream, query) {
        const found = await stored.read(stream, query);
        asked.push([query?.limit, found.length]);
        return found;
      },
    };
    const at = Date.now();
    const add = (session: string, turn: number): void =>
      events.append(cacheStream, [{ key: `${session}.${turn}`, at, scope: "team", session, data: { session, turn } }]);
    for (let turn = 0; turn < 300; turn++) for (const session of ["s1", "s2", "s3"]) if (session !== "s1" || turn < 25) add(session, turn);
    const server = telemetryServer({ routes: [cacheRoute({ events })], principal: anne });
    await server.ask("/api/sessions", { id: "s1" });
    const turns: number[] = [];
    for (let before = ""; ; ) {
      const { body } = await server.ask(`/api/sessions/s1/cache?limit=10${before}`);
      const page = body as FindingsPage;
      turns.unshift(...page.findings.map(({ turn }) => turn));
      if (page.before === undefined) break;
      before = `&before=${page.before}`;
    }
    expect(turns).toEqual(Array.from({ length: 25 }, (__, turn) => turn));
    expect(asked).toEqual([
      [11, 11],
      [11, 11],
      [11, 5],
    ]);
    for (const wrong of ["limit=0", "limit=501", "limit=x", "before=x"])
      expect(await server.ask(`/api/sessions/s1/cache?${wrong}`)).toMatchObject({ status: 400, body: { code: "INPUT_INVALID" } });
  });

  it("keeps no word of the conversation", async () => {
    const { events } = await findings([{}, {}]);
    expect(JSON.stringify(await events.read("_platform.ai.cache"))).not.toContain("SECRET");
  });

  it("shows its findings over HTTP to callers that may read the session, and a foreign session is as one that does not exist", async () => {
    const { events } = await findings([{ input: 5_000 }, { input: 5_100, prompt: "Other." }]);
    const store = memoryStore();
    const routes = [cacheRoute({ events })];
    const own = telemetryServer({ store, routes, principal: anne });
    await own.ask("/api/sessions", { id: "s1" });
    expect((await own.ask("/api/sessions/s1/cache")).body).toMatchObject({
      findings: [{ verdict: "first" }, { verdict: "changed", changed: { kind: "system" } }],
    });
    const foreign = telemetryServer({ store, routes, principal: () => ({ user: "cleo", scope: "other" }) });
    expect(await foreign.ask("/api/sessions/s1/cache")).toMatchObject({ status: 404, body: { code: "SESSION_NOT_FOUND" } });
  });
});
