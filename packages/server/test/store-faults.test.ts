import { memoryStore } from "@loopwright/core/memory";
import { manualClock } from "@loopwright/core/testing";
import { expect, it } from "vitest";
import { failingStore } from "./failing-store.ts";
import { testServer } from "./test-server.ts";
import { turnOfLoop } from "./turn-of-loop.ts";

it("a session whose store fails is not shown as an empty one, and is whole again when the store is back", async () => {
  const store = failingStore(memoryStore());
  const { ask, refused, send, server } = testServer({ store });
  await (await send("/api/agent/execute", { json: { sessionId: "a", context: {}, input: "Hi." } })).text();
  const before = await ask("/api/sessions/a");
  store.state = "failing";
  expect(await refused("/api/sessions/a/messages", { json: { message: "Again." } })).toMatchObject({ status: 503 });
  for (const path of ["/api/sessions/a", "/api/agent/session/a", "/api/sessions/a/events", "/api/sessions/a/events?from=now"])
    expect(await refused(path), path).toMatchObject({ status: 503, code: "STORE_UNAVAILABLE", retryable: true });
  store.state = "well";
  expect((await ask("/api/sessions/a")).body).toEqual(before.body);
  await server.close();
});

it("a server whose store is silent says so within two seconds, and is ready when the store is back", async () => {
  const store = failingStore(memoryStore());
  const clock = manualClock();
  const { refused, send, server } = testServer({ store, clock, authenticate: () => ({ user: "ann", scope: "team" }) });
  store.state = "silent";
  const answer = refused("/readyz");
  await turnOfLoop();
  clock.advance(2_000);
  expect(await answer).toMatchObject({ status: 503, code: "NOT_READY" });
  store.state = "well";
  expect((await send("/readyz")).status).toBe(200);
  expect(clock.pending).toBe(0);
  await server.close();
});
