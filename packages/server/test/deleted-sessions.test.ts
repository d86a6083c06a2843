import { createClient } from "@loopwright/client";
import { type ExecuteStream, resume } from "@loopwright/core";
import { manualClock, memoryChannel, memoryStore } from "@loopwright/core/memory";
import type { SessionLog } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import { until } from "../../host/test/turn-of-loop.ts";
import { quiet } from "./commanded-scene.ts";
import { openStreamDoor } from "./stream-door.ts";
import { scriptedAgent } from "./test-server.ts";

/** The types of the frames of a stream, in order, until it ends. */
async function typesOf(response: Response): Promise<readonly string[]> {
  const text = await response.text();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => (JSON.parse(data) as { readonly type: string }).type);
}

const post = (text: string): Request =>
  new Request("http://localhost/api/agent/execute", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ sessionId: "told", agent: "helper", input: text }),
  });

it("a session that is deleted under a run ends every stream with its last frames, on this node and on another", async () => {
  const store = memoryStore();
  const channel = memoryChannel();
  const agents = [scriptedAgent([{ text: "Once upon a time", hang: true }])];
  const [here, there] = [openStreamDoor({ agents, store, channel }), openStreamDoor({ agents, store, channel, role: "server" })];
  const execution = typesOf(await here.fetch(post("Tell me a story.")));
  const local = here.use("told", ({ session }) => session.ready().then(() => eventTypesOf(resume(session))));
  const events = [here, there].flatMap((door) =>
    ["", "?after=", "?from=now"].map(async (query) =>
      typesOf(await door.fetch(new Request(`http://localhost/api/sessions/told/events${query}`))),
    ),
  );
  const watchers = async (door: typeof here): Promise<number> => door.use("told", ({ feed }) => feed.watchers);
  await expect.poll(async () => [await watchers(here), await watchers(there)]).toEqual([4, 3]);
  expect((await here.fetch(new Request("http://localhost/api/sessions/told", { method: "DELETE" }))).status).toBe(204);
  expect((await execution).slice(-5)).toEqual(["turn_end", "error", "run_end", "session_end", "execute_complete"]);
  expect((await local).slice(-4)).toEqual(["error", "run_end", "session_end", "execute_complete"]);
  for (const [at, types] of (await Promise.all(events)).entries()) {
    const last = types.slice(types.indexOf("error")).filter((type) => type !== "rest");
    // A reader that did not ask to wait has all with the rest after the run.
    const wanted = at % 3 === 0 && last.length === 2 ? ["error", "run_end"] : ["error", "run_end", "session_closed"];
    expect([...last, types.at(-1)]).toEqual([...wanted, "rest"]);
  }
  expect(await store.index.list("local", { limit: 10 })).toEqual([]);
  await Promise.all([here.close(), there.close()]);
});

it("a deletion leaves another node time to read how the run ended", async () => {
  const store = memoryStore();
  const channel = memoryChannel();
  const agents = [scriptedAgent([{ text: "Once upon a time", hang: true }])];
  const clock = manualClock();
  const here = openStreamDoor({ agents, store, channel, clock });
  let held: Promise<void> | undefined;
  const slow: SessionLog = {
    ...store.log,
    async read(ref, options) {
      await held;
      return store.log.read(ref, options);
    },
  };
  const there = openStreamDoor({ agents, store: { ...store, log: slow }, channel, role: "server" });
  const execution = typesOf(await here.fetch(post("Tell me a story.")));
  const watching = there.fetch(new Request("http://localhost/api/sessions/told/events?after=")).then(typesOf);
  await expect.poll(() => there.use("told", ({ session, feed }) => feed.watchers === 1 && session.runId !== undefined)).toBe(true);
  const gate = Promise.withResolvers<void>();
  held = gate.promise;
  let isGone = false;
  const deletion = here.fetch(new Request("http://localhost/api/sessions/told", { method: "DELETE" })).then(({ status }) => {
    isGone = true;
    return status;
  });
  expect((await execution).slice(-1)).toEqual(["execute_complete"]);
  await quiet();
  expect(isGone).toBe(false);
  gate.resolve();
  await until(() => there.use("told", ({ session }) => session.runId === undefined), "the other node knows that the run has ended");
  clock.advance(250);
  expect(await deletion).toBe(204);
  expect((await watching).filter((type) => type !== "rest").slice(-3)).toEqual(["error", "run_end", "session_closed"]);
  await Promise.all([here.close(), there.close()]);
});

async function eventTypesOf(stream: ExecuteStream): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  return types;
}

it("an execution whose session is deleted ends as aborted; nothing takes its place", async () => {
  const store = memoryStore();
  const door = openStreamDoor({ agents: [scriptedAgent([{ text: "Once upon a time", hang: true }])], store });
  const client = createClient({ url: "http://localhost", fetch: (request) => door.fetch(request), random: () => 0 });
  const execution = client.execute("Tell me a story.", { sessionId: "told", agent: "helper" });
  const outcome = execution.result().then(
    ({ status }) => status,
    (error: { readonly code: string }) => error.code,
  );
  for await (const event of execution) {
    if (event.type !== "text_delta") continue;
    await client.sessions.remove("told");
    break;
  }
  expect(await outcome).toBe("aborted");
  expect(await store.index.list("local", { limit: 10 })).toEqual([]);
  expect(door.context.host.loaded).toBe(0);
  await door.close();
});

it("a cursor without an existing session creates no session", async () => {
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
  expect(door.context.host.loaded).toBe(0);
  await door.close();
});
