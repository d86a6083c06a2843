import { memoryStore } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { openWebSink } from "../src/stream/web-sink.ts";
import { openStreamDoor } from "./stream-door.ts";
import { scriptedAgent, testServer } from "./test-server.ts";

it("a closed server opens no stream", async () => {
  const { refused, server } = testServer();
  await server.close();
  for (const path of ["/api/notifications", "/api/sessions/a/events"])
    expect(await refused(path), path).toMatchObject({ status: 503, code: "NOT_READY", retryable: true });
});

it("a reader that joins a session that was just evicted is sent back, not left waiting", async () => {
  const door = openStreamDoor({ agents: [scriptedAgent()], store: memoryStore() });
  await door.open("a");
  const hosted = await door.context.host.open({ scope: "local", session: "a" });
  await door.context.host.remove({ scope: "local", session: "a" });
  const { sink, response } = openWebSink({ status: 200, headers: new Headers() });
  door.context.feeds.of(hosted).subscribe({ sink });
  expect(await response.text()).toBe("");
  await door.close();
});

it("a server whose store is silent while it looks for runs that were left can still be closed", async () => {
  const store = memoryStore();
  const silent = { ...store, index: { ...store.index, list: () => new Promise<never>(() => {}) } };
  const { server } = testServer({ store: silent });
  await expect(server.close()).resolves.toBeUndefined();
});

it("an input whose last bytes come after the end is refused, and begins nothing", async () => {
  const store = memoryStore();
  const { send, server } = testServer({ store });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const answer = send("/api/agent/execute", { body: readable, headers: { "Content-Type": "application/json" } });
  const writer = writable.getWriter();
  await writer.write(new TextEncoder().encode('{"context":{},'));
  await server.close();
  await writer.write(new TextEncoder().encode('"input":"Hi."}'));
  await writer.close();
  expect((await answer).status).toBe(503);
  expect(await store.index.list("local", { limit: 10 })).toEqual([]);
});

it("a message that waits for the store when the server ends is answered with 503: it was not aborted, and another node accepts it", async () => {
  const inner = memoryStore();
  let isHeld = false;
  let letThrough = (): void => {};
  let notify = (): void => {};
  const reached = new Promise<void>((resolve) => {
    notify = resolve;
  });
  const claim: typeof inner.log.claim = async (ref, options) => {
    if (isHeld) {
      notify();
      await new Promise<void>((resolve) => {
        letThrough = resolve;
      });
    }
    return inner.log.claim(ref, options);
  };
  const { ask, refused, server } = testServer({ store: { ...inner, log: { ...inner.log, claim } } });
  await ask("/api/sessions", { json: { id: "a" } });
  isHeld = true;
  const answer = refused("/api/sessions/a/messages", { json: { message: "Hi." } });
  await reached;
  const closed = server.close();
  expect(await answer).toMatchObject({ status: 503, code: "NOT_READY", retryable: true });
  letThrough();
  await closed;
});
