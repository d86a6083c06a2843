import { createAgent } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import type { ListQuery, SessionStore } from "@loopwright/core/ports";
import type { SessionSummary } from "@loopwright/core/protocol";
import { expect, it, onTestFinished } from "vitest";
import { pickColour, scriptedAgent, testServer } from "./test-server.ts";

interface Page {
  readonly sessions: readonly SessionSummary[];
  readonly next?: string;
}

it("a list leaves out the sessions of other agents, in other states and of other users", async () => {
  const clerk = scriptedAgent([{ calls: [{ name: "pick_colour" }] }], { name: "clerk", tools: [pickColour] });
  const authenticate = (request: Request) => ({ user: request.headers.get("X-User") ?? "anne", scope: "garden" });
  const { ask, send, refused, server } = testServer({ agents: [scriptedAgent(), clerk], authenticate });
  onTestFinished(() => server.close());
  await ask("/api/sessions", { json: { id: "hers" } });
  await ask("/api/sessions", { json: { id: "his" }, headers: { "X-User": "ben" } });
  await (await send("/api/agent/execute", { json: { agent: "clerk", input: "Ask me." } })).text();
  const idsOf = async (query: string) =>
    (await ask<Page>(`/api/sessions?${query}`)).body.sessions.map(({ id, agent }) => (agent === "clerk" ? "clerk" : id));
  expect(await idsOf("")).toEqual(["clerk", "his", "hers"]);
  expect(await idsOf("status=waiting")).toEqual(["clerk"]);
  expect(await idsOf("agent=helper")).toEqual(["his", "hers"]);
  expect(await idsOf("participant=ben")).toEqual(["his"]);
  expect(await idsOf("participant=ben&status=waiting")).toEqual([]);
  expect(await refused("/api/sessions?status=asleep")).toMatchObject({ status: 400 });
});

it("a filtered list looks at a bounded number of sessions, and its next page begins where it stopped", async () => {
  const asked: ListQuery[] = [];
  const store = memoryStore();
  const summaryOf = (n: number): SessionSummary => ({
    ...{ id: `s${n}`, agent: n % 1_500 === 0 ? "rare" : "helper", status: "idle", createdAt: n, updatedAt: n, lastSeq: 1, messageCount: 0 },
  });
  const index: SessionStore["index"] = {
    ...store.index,
    async list(_, options = {}) {
      asked.push(options);
      const from = options.before?.updatedAt ?? 4_001;
      return Array.from({ length: Math.min(options.limit ?? 100, from - 1) }, (_, place) => summaryOf(from - 1 - place));
    },
  };
  const agent = createAgent({ name: "helper", provider: scripted([]) });
  const { ask, server } = testServer({ agents: [agent], store: { ...store, index } });
  onTestFinished(() => server.close());
  const found: string[] = [];
  let requests = 0;
  for (let before = ""; ; requests++) {
    asked.length = 0;
    const { sessions, next } = (await ask<Page>(`/api/sessions?agent=rare&limit=100${before}`)).body;
    found.push(...sessions.map(({ id }) => id));
    expect(asked.reduce((sum, { limit = 0 }) => sum + limit, 0)).toBeLessThanOrEqual(1_000);
    if (next === undefined) break;
    before = `&before=${next}`;
  }
  expect(found).toEqual(["s3000", "s1500"]);
  expect(requests).toBe(4);
});

it("a search whose best hits are hidden is repeated with more, twice at most, so that its answer is full or states that there may be more", async () => {
  const asked: number[] = [];
  const store = memoryStore();
  let hits = 0;
  let isSeen = (_n: number): boolean => true;
  const index: SessionStore["index"] = {
    ...store.index,
    async search(_, _words, { limit = 50 } = {}) {
      asked.push(limit);
      return Array.from({ length: Math.min(limit, hits) }, (_, n) => ({
        session: { id: `s${n}`, agent: "helper", status: "idle", createdAt: n, updatedAt: n, lastSeq: 1, messageCount: 0 },
        excerpt: "apples",
      }));
    },
  };
  const made = (maySee: boolean) =>
    testServer({
      agents: [scriptedAgent()],
      store: { ...store, index },
      ...(maySee ? { maySee: (_, { id }) => isSeen(Number(id.slice(1))) } : {}),
    });
  const [open, filtered] = [made(false), made(true)];
  onTestFinished(async () => void (await Promise.all([open.server.close(), filtered.server.close()])));
  const search = async ({ ask }: typeof open): Promise<readonly [number, boolean, string]> => {
    asked.length = 0;
    const { body } = await ask<{ hits: readonly unknown[]; more?: true }>("/api/sessions?search=apples&limit=20");
    return [body.hits.length, body.more === true, asked.join()];
  };
  hits = 20;
  expect(await search(open)).toEqual([20, false, "21"]);
  hits = 5_000;
  expect(await search(open)).toEqual([20, true, "21"]);
  isSeen = (n) => n >= 240;
  expect(await search(filtered)).toEqual([20, true, "250,1000"]);
  isSeen = (n) => n === 999;
  expect(await search(filtered)).toEqual([1, true, "250,1000"]);
  hits = 300;
  isSeen = (n) => n >= 295;
  expect(await search(filtered)).toEqual([5, false, "250,1000"]);
});

it("a search states that there may be more where the store has searched a part of the sessions alone, also without any hit", async () => {
  const store = memoryStore({ searchSessionsMax: 2 });
  const { ask, server } = testServer({ agents: [scriptedAgent()], store });
  onTestFinished(() => server.close());
  const search = async (words: string): Promise<unknown> => (await ask(`/api/sessions?search=${words}`)).body;
  for (const title of ["apples one", "apples two"]) await ask("/api/sessions", { json: { title } });
  expect(await search("pears")).toEqual({ hits: [] });
  expect(await search("apples")).toMatchObject({ hits: [{}, {}] });
  expect(await search("apples")).not.toHaveProperty("more");
  await ask("/api/sessions", { json: { title: "apples three" } });
  expect(await search("pears")).toEqual({ hits: [], more: true });
  expect(await search("apples")).toMatchObject({ hits: [{}, {}], more: true });
});
