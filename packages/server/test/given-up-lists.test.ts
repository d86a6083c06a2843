import { manualClock, memoryStore } from "@loopwright/core/memory";
import type { IndexQuery, SessionStore } from "@loopwright/core/ports";
import { listen } from "@loopwright/server/node";
import { expect, it, onTestFinished } from "vitest";
import { serve } from "./serve.ts";
import { scriptedAgent, testServer } from "./test-server.ts";

/** A store whose index answers no call, and the signals that it was given. */
function deafStore(): { readonly store: SessionStore; readonly signals: (AbortSignal | undefined)[] } {
  const signals: (AbortSignal | undefined)[] = [];
  const real = memoryStore();
  const never = (query: IndexQuery | undefined): Promise<never> => {
    signals.push(query?.signal);
    return new Promise(() => {});
  };
  const index = {
    ...real.index,
    list: (_: string, query?: IndexQuery) => never(query),
    search: (_: string, __: string, query?: IndexQuery) => never(query),
  };
  return { store: { ...real, index }, signals };
}

it.each(["/api/sessions", "/api/sessions?search=apples"])("GET %s ends the work of the index when its answer is late", async (path) => {
  const { store, signals } = deafStore();
  const clock = manualClock();
  const { refused } = testServer({ store, clock });
  const answer = refused(path);
  await expect.poll(() => signals.length).toBe(1);
  expect(signals[0]?.aborted).toBe(false);
  clock.advance(2_000);
  expect(await answer).toMatchObject({ status: 503, code: "STORE_UNAVAILABLE" });
  expect(signals[0]?.aborted).toBe(true);
});

it.each(["api/sessions", "api/sessions?search=apples"])("GET /%s ends the work of the index when its caller has gone", async (path) => {
  const { store, signals } = deafStore();
  const server = serve({ agents: [scriptedAgent()], store, limits: { answerMs: 60_000 } });
  const listening = await listen(server, { port: 0 });
  onTestFinished(async () => {
    await server.close();
    await listening.close();
  });
  const caller = new AbortController();
  const answer = fetch(`${listening.url}/${path}`, { signal: caller.signal }).catch(() => "gone");
  await expect.poll(() => signals.length).toBe(1);
  caller.abort();
  expect(await answer).toBe("gone");
  await expect.poll(() => signals[0]?.aborted).toBe(true);
});
