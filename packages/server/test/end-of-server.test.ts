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

it("a reader who begins to watch a session that was just let go of is sent back, not left waiting", async () => {
  const door = openStreamDoor({ agents: [scriptedAgent()], store: memoryStore() });
  await door.open("a");
  const hosted = await door.scene.host.open({ scope: "local", session: "a" });
  await door.scene.host.remove({ scope: "local", session: "a" });
  const { sink, response } = openWebSink({ status: 200, headers: new Headers() });
  hosted.feed.subscribe({ sink });
  expect(await response.text()).toBe("");
  await door.close();
});
