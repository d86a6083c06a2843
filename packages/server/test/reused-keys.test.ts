import { describe, expect, it } from "vitest";
import { eventsOf, pickColour, scriptedAgent, testServer } from "./test-server.ts";

const clientCall = scriptedAgent([{ calls: [{ name: "pick_colour", args: { hint: "warm" }, id: "c1" }] }, { text: "Red it is." }], {
  tools: [pickColour],
});
const key = { "Idempotency-Key": "k1" };
const reused = { status: 422, code: "KEY_REUSED" };

describe("an Idempotency-Key that comes again with the same input and", () => {
  const message = (more: object) => ({ json: { input: "Hi", ...more }, headers: key });

  it.each([
    ["other options", { options: { temperature: 1 } }],
    ["an option that was left out", { options: {} }],
    ["another mode", { options: { temperature: 0 }, mode: "interrupt" }],
    ["another parent", { options: { temperature: 0 }, parent: null }],
  ])("%s is refused in a message; with the same it is replayed", async (_, more) => {
    const server = testServer();
    const { ask, refused } = server;
    await ask("/api/sessions", { json: { id: "a" } });
    const first = await ask("/api/sessions/a/messages", message({ options: { temperature: 0 } }));
    expect(first.status).toBe(202);
    expect(await refused("/api/sessions/a/messages", message(more))).toMatchObject(reused);
    await eventsOf(server, "a");
    const again = await ask("/api/sessions/a/messages", message({ options: { temperature: 0 }, mode: "enqueue" }));
    expect(again).toMatchObject({ status: 200, body: { replayed: true, runId: (first.body as { runId: string }).runId } });
  });

  it("another mode than `steer` is refused, also where steering came too late and was recorded as `enqueue`", async () => {
    const { ask, refused } = testServer();
    await ask("/api/sessions", { json: { id: "a" } });
    expect((await ask("/api/sessions/a/messages", message({ mode: "steer" }))).status).toBe(202);
    expect((await ask("/api/sessions/a/messages", message({ mode: "steer" }))).status).toBe(200);
    expect(await refused("/api/sessions/a/messages", message({ mode: "enqueue" }))).toMatchObject(reused);
  });

  it("another context, agent or other options is refused by execute; with the same it is the same execution", async () => {
    const { ask, send, refused } = testServer({ agents: [scriptedAgent(), scriptedAgent([], { name: "other" })] });
    for (const sessionId of [undefined, "named"]) {
      const body = {
        ...(sessionId ? { sessionId } : {}),
        input: "Hi",
        agent: "helper",
        context: { messages: [{ role: "user", content: "Before." }] },
      };
      const execute = (more: object) => ({ json: { ...body, ...more }, headers: key });
      const first = await send("/api/agent/execute", execute({}));
      expect(first.status).toBe(200);
      const events = await first.text();
      for (const more of [
        { context: { messages: [{ role: "user", content: "Instead." }] } },
        { context: undefined },
        { agent: "other" },
        { options: { temperature: 1 } },
        { options: { mode: "interrupt" } },
      ]) {
        // A session that is named keeps its agent, whatever the key came with.
        const isOtherAgent = sessionId !== undefined && "agent" in more;
        const wanted = isOtherAgent ? { status: 400, code: "INPUT_INVALID" } : reused;
        expect(await refused("/api/agent/execute", execute(more)), JSON.stringify(more)).toMatchObject(wanted);
      }
      const again = await (await send("/api/agent/execute", execute({}))).text();
      expect(/"runId":"\w+"/.exec(again)?.[0]).toBe(/"runId":"\w+"/.exec(events)?.[0]);
      if (sessionId) expect((await ask<{ messages: unknown[] }>(`/api/agent/session/${sessionId}`)).body.messages).toHaveLength(3);
    }
  });

  it("other fields is refused for a new session, an abort, results on any route, and a file", async () => {
    const { ask, refused, send } = testServer({ agents: [clientCall] });
    const session = (more: object) => ({ json: { id: "a", title: "One", ...more }, headers: key });
    await ask("/api/sessions", session({}));
    for (const more of [{ title: "Two" }, { metadata: { a: 1 } }, { context: {} }])
      expect(await refused("/api/sessions", session(more)), JSON.stringify(more)).toMatchObject(reused);
    const run = await send("/api/agent/execute", { json: { sessionId: "a", input: "Hi" } });
    const toolCallId = /"toolCallId":"([^"]+)"/.exec(await run.text())?.[1] ?? "";
    const results = [{ role: "tool_result", toolCallId, content: "red" }];
    expect((await ask("/api/sessions/a/tool-results", { json: { results }, headers: key })).status).toBe(202);
    expect((await ask("/api/sessions/a/messages", { json: { input: results }, headers: key })).status).toBe(200);
    for (const [path, json] of [
      ["/api/sessions/a/tool-results", { results: [{ ...results[0], content: "blue" }] }],
      ["/api/sessions/a/messages", { input: results, options: { temperature: 1 } }],
      ["/api/agent/execute", { sessionId: "a", input: results, options: { temperature: 1 } }],
      ["/api/agent/execute", { sessionId: "a", input: results, context: {} }],
    ] as const)
      expect(await refused(path, { json, headers: key }), path).toMatchObject(reused);
    await ask("/api/sessions/a/abort", { json: { reason: "tired" }, headers: key });
    expect(await refused("/api/sessions/a/abort", { json: { reason: "bored" }, headers: key })).toMatchObject(reused);
    expect(await refused("/api/sessions/a/abort", { json: { reason: "tired", runId: "r" }, headers: key })).toMatchObject(reused);
    await send("/api/files", { body: "x", headers: { ...key, "Content-Type": "text/plain" } });
    expect(await refused("/api/files", { body: "x", headers: { ...key, "Content-Type": "text/html" } })).toMatchObject(reused);
  });
});
