import { createClient } from "@loopwright/client";
import { memoryStore } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { openStreamDoor } from "./stream-door.ts";
import { scriptedAgent } from "./test-server.ts";

it("an execution whose session is deleted ends as not found; nothing takes its place", async () => {
  const store = memoryStore();
  const door = openStreamDoor({ agents: [scriptedAgent([{ text: "Once upon a time", hang: true }])], store });
  const client = createClient({ url: "http://localhost", fetch: (request) => door.fetch(request), random: () => 0 });
  const execution = client.execute("Tell me a story.", { sessionId: "told", agent: "helper" });
  const outcome = execution.result().then(
    () => "an end",
    (error: { readonly code: string }) => error.code,
  );
  for await (const event of execution) {
    if (event.type !== "text_delta") continue;
    await client.sessions.remove("told");
    break;
  }
  expect(await outcome).toBe("SESSION_NOT_FOUND");
  expect(await store.index.list("local", { limit: 10 })).toEqual([]);
  expect(door.scene.host.loaded).toBe(0);
  await door.close();
});

it("a cursor without a session to go on with begins no new one", async () => {
  const store = memoryStore();
  const door = openStreamDoor({ agents: [scriptedAgent()], store });
  for (const body of [
    { input: "Hi.", context: {} },
    { sessionId: "gone", input: "Hi.", agent: "helper" },
    { sessionId: "gone", input: [{ role: "tool_result", toolCallId: "c", toolName: "ask", content: "yes" }] },
  ]) {
    const headers = { "Content-Type": "application/json", "Last-Event-ID": "5.0" };
    const request = new Request("http://localhost/api/agent/execute", { method: "POST", headers, body: JSON.stringify(body) });
    const response = await door.fetch(request);
    expect(await response.json(), JSON.stringify(body)).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
  }
  expect(door.scene.host.loaded).toBe(0);
  await door.close();
});
