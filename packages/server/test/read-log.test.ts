import { createClient } from "@loopwright/client";
import type { Fact } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { fromHere, scriptedAgent, testServer } from "./test-server.ts";

const scope = "local";

interface Page {
  readonly sessionId: string;
  readonly facts: readonly Fact[];
  readonly next?: number;
}

it("the log of a session is given in pages, whole and as the store has it", async () => {
  const store = memoryStore();
  const { send, ask, server } = testServer({
    store,
    agents: [scriptedAgent([{ text: "word ".repeat(600) }])],
    limits: { pageBytes: 8_000 },
  });
  // Small facts, of which a hundred fill a page, then some of which a few do.
  await (await send("/api/agent/execute", { json: { sessionId: "a", context: {}, input: "Hi." } })).text();
  for (let at = 0; at < 130; at++) await send("/api/sessions/a", { method: "PATCH", json: { title: `Title ${at}` } });
  for (let at = 0; at < 8; at++) await (await send("/api/agent/execute", { json: { sessionId: "a", input: "More." } })).text();
  const kept = await store.log.read({ scope, session: "a" });
  const pages: Page[] = [];
  for (let from: number | undefined = 1; from !== undefined; from = pages.at(-1)?.next) {
    const { status, body, headers } = await ask<Page>(`/api/sessions/a/log?from=${from}`, { env: fromHere });
    expect([status, headers.get("cache-control")]).toEqual([200, "private, no-store"]);
    pages.push(body);
  }
  expect(pages.flatMap(({ facts }) => facts)).toEqual(JSON.parse(JSON.stringify(kept)));
  expect(pages.every(({ facts }) => facts.length <= 100)).toBe(true);
  expect(pages.filter(({ facts }) => facts.length < 90).length).toBeGreaterThan(1);

  const client = createClient({ url: "http://localhost", fetch: (request) => server.fetch(request, fromHere) });
  expect(await client.sessions.log("a")).toEqual(JSON.parse(JSON.stringify(kept)));
});

it("a caller that is not trusted gets no log, also of a session of its own, and no word of it", async () => {
  const { send, refused } = testServer({ authenticate: () => ({ user: "anne", scope }) });
  await (await send("/api/agent/execute", { json: { sessionId: "a", context: {}, input: "secret words" } })).text();
  const problem = await refused("/api/sessions/a/log");
  expect(problem).toMatchObject({ status: 403, code: "FORBIDDEN" });
  expect(JSON.stringify(problem)).not.toContain("secret words");
  expect(await refused("/api/sessions/none/log")).toMatchObject({ status: 404 });
  expect(await refused("/api/sessions/a/log?from=0")).toMatchObject({ status: 400, code: "INPUT_INVALID" });
});
