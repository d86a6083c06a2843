import { memoryStore } from "@loopwright/core/memory";
import { manualClock } from "@loopwright/core/testing";
import { expect, it } from "vitest";
import type { Call } from "../src/http/route.ts";
import { openSession } from "../src/routes/open-session.ts";
import { failingStore } from "./failing-store.ts";
import { openStreamDoor } from "./stream-door.ts";
import { scriptedAgent, testServer } from "./test-server.ts";
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
  await server.close();
  expect(clock.pending).toBe(0);
});

it("a session whose state is lost between two looks is told of as away, never as gone", async () => {
  const store = memoryStore();
  const door = openStreamDoor({ agents: [scriptedAgent()], store });
  await door.open("a");
  const { host } = door.scene;
  const open: typeof host.open = async (ref) => {
    const hosted = await host.open(ref);
    return { ...hosted, session: { ...hosted.session, lastSeq: 0, ready: () => hosted.session.ready() } };
  };
  const scene = { ...door.scene, host: { ...host, open } };
  const call = { scene, principal: { user: "local", scope: "local" } } as Call;
  await expect(openSession(call, "a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
  await expect(openSession(call, "b")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  await door.close();
});
