import { manualClock, memoryStore } from "@loopwright/core/memory";
import type { Problem, SessionSnapshot } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { failingStore } from "../../host/test/failing-store.ts";
import { runClock, turnOfLoop, until } from "../../host/test/turn-of-loop.ts";
import type { RequestContext } from "../src/request/route.ts";
import { openSession } from "../src/routes/open-session.ts";
import { openStreamDoor } from "./stream-door.ts";
import { pickColour, scriptedAgent, testServer } from "./test-server.ts";

it("a session whose store fails is shown in its last known state, marked as stale, and is whole again when the store is back", async () => {
  const store = failingStore(memoryStore());
  const { ask, refused, send, server } = testServer({ store });
  await (await send("/api/agent/execute", { json: { sessionId: "a", context: {}, input: "Hi." } })).text();
  const before = await ask<SessionSnapshot>("/api/sessions/a");
  const conversation = await ask("/api/agent/session/a");
  expect([before.headers.get("X-Session-Stale"), conversation.headers.get("X-Session-Stale")]).toEqual([null, null]);
  store.state = "failing";
  expect(await refused("/api/sessions/a/messages", { json: { message: "Again." } })).toMatchObject({ status: 503 });
  for (const [path, { body }] of [["/api/sessions/a", before] as const, ["/api/agent/session/a", conversation] as const]) {
    const stale = await ask(path);
    expect([stale.status, stale.headers.get("X-Session-Stale"), stale.body], path).toEqual([200, "true", body]);
  }
  const { lastSeq } = { lastSeq: Number.parseInt(before.body.cursor, 10) };
  expect((await ask(`/api/sessions/a?minSeq=${lastSeq}`)).status).toBe(200);
  expect(await refused(`/api/sessions/a?minSeq=${lastSeq + 1}`)).toMatchObject({ status: 503, code: "NODE_BEHIND" });
  for (const path of ["/api/sessions/a/events", "/api/sessions/a/events?from=now", "/api/sessions/other"])
    expect(await refused(path), path).toMatchObject({ status: 503, code: "STORE_UNAVAILABLE", retryable: true });
  store.state = "well";
  const after = await ask("/api/sessions/a");
  expect([after.body, after.headers.get("X-Session-Stale")]).toEqual([before.body, null]);
  await server.close();
});

it("a session that is at hand is shown while the store is away, and marked as stale as soon as that is known", async () => {
  const store = failingStore(memoryStore());
  const { ask, refused, server } = testServer({ store });
  await ask("/api/sessions", { json: { id: "a" } });
  store.state = "failing";
  expect((await refused("/readyz")).status).toBe(503);
  const shown = await ask("/api/sessions/a");
  expect([shown.status, shown.headers.get("X-Session-Stale")]).toEqual([200, "true"]);
  store.state = "well";
  await ask("/readyz");
  expect((await ask("/api/sessions/a")).headers.get("X-Session-Stale")).toBeNull();
  await server.close();
});

it.each([
  ["POST", "/api/sessions", { id: "new" }],
  ["POST", "/api/sessions/a/messages", { message: "Again." }],
  ["POST", "/api/sessions/a/tool-results", { results: [{ role: "tool_result", toolCallId: "c", content: "red" }] }],
  ["POST", "/api/sessions/a/abort", {}],
  ["POST", "/api/agent/execute", { sessionId: "a", input: "Again." }],
  ["POST", "/api/agent/execute", { context: {}, input: "New." }],
  ["PATCH", "/api/sessions/a", { title: "New" }],
  ["GET", "/api/sessions/other", undefined],
  ["GET", "/api/sessions/other/events", undefined],
] as const)("%s %s is answered within two seconds though the store is silent, and nothing is left open", async (method, path, json) => {
  const clock = manualClock();
  const store = failingStore(memoryStore({ clock }));
  const { send, server } = testServer({ store, clock });
  await (await send("/api/sessions", { json: { id: "a" } })).text();
  store.state = "silent";
  const stop = runClock(clock, 10);
  const askedAt = clock.now();
  const answer = await send(path, { method, json });
  expect(clock.now() - askedAt).toBeLessThan(2_000);
  expect([answer.status, answer.headers.get("Retry-After"), ((await answer.json()) as Problem).code]).toEqual([
    503,
    "1",
    "STORE_UNAVAILABLE",
  ]);
  store.state = "well";
  // What continues unread gives back what it holds.
  await until(async () => (await (await send("/metrics")).text()).includes("loopwright_sse_clients 0"), "no stream is open");
  stop();
  await server.close();
});

it("a server whose store is silent reports it within two seconds, and is ready when the store is back", async () => {
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

it("a conversation that is shown as it stood has parallel results in the order of their calls, whichever came first", async () => {
  const store = failingStore(memoryStore());
  const calls = ["c0", "c1", "c2"].map((id) => ({ name: "pick_colour", args: {}, id }));
  const { ask, send, refused } = testServer({ store, agents: [scriptedAgent([{ calls }, { text: "Fine." }], { tools: [pickColour] })] });
  await (await send("/api/agent/execute", { json: { sessionId: "a", context: {}, input: "Pick three." } })).text();
  for (const toolCallId of ["c2", "c0"])
    await send("/api/sessions/a/tool-results", { json: { results: [{ role: "tool_result", toolCallId, content: toolCallId }] } });
  const before = await ask<{ readonly messages: readonly { readonly toolCallId?: string }[] }>("/api/agent/session/a");
  expect(before.body.messages.map(({ toolCallId }) => toolCallId)).toEqual([undefined, undefined, "c0", "c2"]);
  store.state = "failing";
  expect(await refused("/api/sessions/a/messages", { json: { message: "Again." } })).toMatchObject({ status: 503 });
  const stale = await ask("/api/agent/session/a");
  expect(stale.headers.get("X-Session-Stale")).toBe("true");
  expect(stale.body).toEqual(before.body);
});

it("a session whose state is lost between two reads is reported as unavailable, never as removed", async () => {
  const store = memoryStore();
  const door = openStreamDoor({ agents: [scriptedAgent()], store });
  await door.open("a");
  const { host } = door.context;
  const open: typeof host.open = async (ref) => {
    const hosted = await host.open(ref);
    return { ...hosted, session: { ...hosted.session, lastSeq: 0, ready: () => hosted.session.ready() } };
  };
  const server = { ...door.context, host: { ...host, open } };
  const context = { server, principal: { user: "local", scope: "local" } } as RequestContext;
  await expect(openSession(context, "a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
  await expect(openSession(context, "b")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  await door.close();
});
