import { createClient } from "@loopwright/client";
import { AgentError, createAgent, defineTool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { fromHere, scriptedAgent, type TestServer, testServer } from "./test-server.ts";

const path = "/api/agent/execute";
type Frame = { readonly type: string } & Record<string, unknown>;

/** The frames of one execution, and its headers. */
async function executed(
  { send }: TestServer,
  json: object,
): Promise<{ readonly headers: Headers; readonly frames: readonly Frame[]; readonly text: string }> {
  const response = await send(path, { json });
  expect(response.status).toBe(200);
  const text = await response.text();
  const blocks = text.split("\n\n").flatMap((block) => block.split("\n").filter((line) => line.startsWith("data: ")));
  return { headers: response.headers, frames: blocks.map((line) => JSON.parse(line.slice(6)) as Frame), text };
}

const types = (frames: readonly Frame[]): readonly string[] => frames.map(({ type }) => type);

describe("POST /api/agent/execute", () => {
  it("D40, D42, D43, D44: makes an id where none is given, names it in a header that browsers may read, and ends with one frame for each event", async () => {
    const server = testServer({ origins: ["https://page.example"] });
    const [one, two] = await Promise.all([1, 2].map(() => executed(server, { context: {}, input: "Hello" })));
    const ids = [one, two].map((each) => each?.headers.get("x-session-id") ?? "");
    expect(new Set(ids).size).toBe(2);
    expect(one?.headers.get("content-type")).toBe("text/event-stream");
    expect(one?.headers.get("cache-control")).toContain("no-cache");
    expect(one?.headers.get("connection")).toBe(null);
    const fromPage = await server.send(path, { json: { context: {}, input: "Hello" }, headers: { Origin: "https://page.example" } });
    expect(fromPage.headers.get("access-control-expose-headers")?.toLowerCase()).toContain("x-session-id");
    await fromPage.text();
    expect(one?.frames.at(-1)).toMatchObject({ type: "execute_complete", status: "completed" });
    expect(types(one?.frames ?? []).filter((type) => type === "execute_complete")).toHaveLength(1);
    // Each frame is one line of data and a blank line.
    for (const block of one?.text.trimEnd().split("\n\n") ?? [])
      expect(block.split("\n").filter((line) => line.startsWith("data: ")).length).toBeLessThan(2);
  });

  it("D41, D45: refuses a new session without a context, and reads the messages of one that exists", async () => {
    const server = testServer();
    const json = { sessionId: "new", input: "Hello" };
    expect(await server.refused(path, { json })).toMatchObject({ status: 400, error: "Context required for new session" });
    await executed(server, { ...json, context: {} });
    expect(await server.ask("/api/agent/session/new")).toMatchObject({
      status: 200,
      body: { messages: [{ content: "Hello" }, { role: "assistant" }] },
    });
    expect(await server.refused("/api/agent/session/none")).toMatchObject({ status: 404, error: "Session not found" });
  });

  it("D44: ends with `execute_complete` also after an error, with what went wrong", async () => {
    const server = testServer({ agents: [scriptedAgent([{ error: new AgentError("MODEL_BAD_REQUEST", { message: "No." }) }])] });
    const { frames } = await executed(server, { sessionId: "s", context: {}, input: "Hello" });
    expect(frames.at(-1)).toMatchObject({ type: "execute_complete", status: "error", error: { code: "MODEL_BAD_REQUEST" } });
  });

  it("D20, D46: takes the new input alone, the model sees the whole history, and options hold for their own request", async () => {
    const provider = scripted(() => ({ text: "Yes." }));
    const server = testServer({ agents: [createAgent({ name: "helper", provider })] });
    await executed(server, { sessionId: "s", context: {}, input: "One" });
    await executed(server, { sessionId: "s", input: "Two", options: { temperature: 0.25, maxTokens: 77 } });
    await executed(server, { sessionId: "s", input: "Three" });
    expect(provider.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5]);
    expect(provider.requests.map(({ temperature, maxTokens }) => [temperature, maxTokens === 77])).toEqual([
      [undefined, false],
      [0.25, true],
      [undefined, false],
    ]);
  });

  it("D11, D13, D27: a declared tool is the client's; the server neither runs it nor reports a run of it, and waits twice in a row", async () => {
    const call = (id: string) => ({ calls: [{ id, name: "paint", args: { id } }] });
    const server = testServer({ agents: [scriptedAgent([call("c1"), call("c2"), { text: "Painted." }])] });
    const tool = { name: "paint", description: "Paints.", parameters: { type: "object" } };
    const first = await executed(server, { sessionId: "s", context: { tools: [tool] }, input: "Paint" });
    expect(first.frames.at(-1)).toMatchObject({
      status: "awaiting_tool_execution",
      pendingToolCalls: [{ toolCallId: "c1", toolName: "paint", args: { id: "c1" } }],
    });
    const answer = (toolCallId: string) =>
      executed(server, { sessionId: "s", input: [{ role: "tool_result", toolCallId, content: "Done." }] });
    const second = await answer("c1");
    expect(second.frames.at(-1)).toMatchObject({ status: "awaiting_tool_execution", pendingToolCalls: [{ toolCallId: "c2" }] });
    const last = await answer("c2");
    expect(last.frames.at(-1)).toMatchObject({ status: "completed" });
    const all = [first, second, last].flatMap(({ frames }) => types(frames));
    expect(all.filter((type) => type === "tool_execution_start" || type === "tool_execution_delta")).toEqual([]);
  });

  it("D11, D56: a tool of the server is reported from its start over its pieces to its end, and what it gave before an error is kept", async () => {
    const fragile = defineTool({
      name: "fragile",
      description: "Breaks.",
      parameters: { type: "object" },
      async *execute() {
        yield { type: "delta", delta: "one " };
        yield { type: "delta", delta: "two" };
        throw new Error("It broke.");
      },
    });
    const provider = scripted([{ calls: [{ id: "c1", name: "fragile", args: {} }] }, { text: "It broke." }]);
    const server = testServer({ agents: [createAgent({ name: "helper", provider, tools: [fragile] })] });
    const { frames } = await executed(server, { sessionId: "s", context: {}, input: "Go" });
    const own = frames.filter(({ type }) => type.startsWith("tool_execution_"));
    expect(own[0]).toMatchObject({ type: "tool_execution_start", toolCallId: "c1", toolName: "fragile", args: {} });
    expect(own.at(-1)).toMatchObject({ type: "tool_execution_end", toolCallId: "c1", outcome: "error" });
    const deltas = own.filter(({ type }) => type === "tool_execution_delta");
    expect(deltas.map(({ delta }) => delta).join("")).toBe("one two");
    const result = JSON.stringify(provider.requests.at(-1)?.messages.at(-1));
    expect(result).toContain("one two");
    expect(result).toContain('"isError":true');
  });

  it("D57: refuses a body beyond its limit, and more requests of one caller than a minute may have, with the wait", async () => {
    const server = testServer({ limits: { bodyBytes: 2_000, writesPerMinute: 2 } });
    expect(await server.refused(path, { json: { context: {}, input: "x".repeat(3_000) } })).toMatchObject({
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
    });
    await executed(server, { context: {}, input: "One" });
    const refused = await server.refused(path, { json: { context: {}, input: "Two" } });
    expect(refused).toMatchObject({ status: 429, code: "RATE_LIMITED" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("D47, D48: the client runs its own tool and sends the result, and what it sends has the tool as data", async () => {
    const { server } = testServer({
      agents: [scriptedAgent([{ calls: [{ id: "c1", name: "ask", args: { about: "colours" } }] }, { text: "Green." }])],
    });
    const bodies: string[] = [];
    const client = createClient({
      url: "http://localhost",
      async fetch(request) {
        bodies.push(await request.clone().text());
        return server.fetch(request, fromHere);
      },
    });
    const asked: unknown[] = [];
    const stream = client.execute("Which colour do I like?", {
      context: {},
      tools: [{ name: "ask", description: "Asks.", parameters: { type: "object" }, execute: (args: unknown) => void asked.push(args) }],
    });
    expect(await stream.result()).toMatchObject({ status: "completed" });
    expect(asked).toEqual([{ about: "colours" }]);
    const [first = ""] = bodies;
    expect(JSON.parse(first)).toMatchObject({ context: { tools: [{ name: "ask", description: "Asks." }] } });
    expect(first).not.toContain("execute");
  });
});
