import { defineTool } from "@loopwright/core";
import { digestId, ownedSessionId } from "@loopwright/server";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type ConnectOptions, modern, serveAgents } from "./mcp-server.ts";

/** For what follows an answer by itself. */
const patience = { timeout: 60_000 };

const kinds: [string, ConnectOptions][] = [
  ["of 2026-07-28", modern],
  ["that negotiates", { versionNegotiation: { mode: "auto" } }],
  ["with the handshake of 2025", {}],
];

/** The session that a result names. */
const sessionOf = ({ structuredContent }: { structuredContent?: unknown } = {}): object => {
  const { session } = structuredContent as { readonly session: string };
  return { session };
};

describe.each(kinds)("a client %s", (_, options) => {
  it("finds each agent as a tool, and reads its answer as text and as structured content", async () => {
    const server = await serveAgents([{ text: "It is raining." }]);
    const client = await server.connect(options);
    const { tools } = await client.listTools();
    expect(tools.map(({ name, description }) => ({ name, description }))).toEqual([
      { name: "ask_helper", description: "Asks the agent `helper` and returns its answer." },
    ]);
    const result = await client.callTool({ name: "ask_helper", arguments: { input: "Is it raining?" } });
    expect(result.content).toEqual([{ type: "text", text: "It is raining." }]);
    expect(result.structuredContent).toEqual({ text: "It is raining.", status: "completed", session: expect.stringMatching(/^mcp-/) });
  });

  it("gets the text as progress, which together is the answer", async () => {
    const text = "It rains in Oslo, and it will rain tomorrow as well.";
    const server = await serveAgents([{ text, chunkSize: 5 }]);
    const client = await server.connect(options);
    const pieces: string[] = [];
    const counts: number[] = [];
    const onprogress = ({ progress, message = "" }: { progress: number; message?: string | undefined }): void => {
      pieces.push(message);
      counts.push(progress);
    };
    await client.callTool({ name: "ask_helper", arguments: { input: "How is it?" } }, { onprogress });
    expect(pieces.join("")).toBe(text);
    expect(counts).toEqual([...counts].sort((one, other) => one - other));
  });

  it("continues a conversation by its name, which another user does not share", async () => {
    const server = await serveAgents([{ text: "Hello." }, { text: "Hello again." }, { text: "Hello, Ben." }]);
    const client = await server.connect(options);
    const ask = { name: "ask_helper", arguments: { input: "Hi.", conversation: "weather" } };
    const first = await client.callTool(ask);
    const second = await client.callTool(ask);
    expect(second.structuredContent).toMatchObject({ ...sessionOf(first), text: "Hello again." });
    expect(server.provider.requests[1]?.messages).toHaveLength(3);
    const other = await (await server.connect({ ...options, user: "ben" })).callTool(ask);
    expect(other.structuredContent).toMatchObject({ text: "Hello, Ben." });
    expect(server.provider.requests[2]?.messages).toHaveLength(1);
  });

  it.each(["chat", "mcp"] as const)(
    "is kept from a call neither by a session that another user has opened, nor led into it (%s)",
    async (kind) => {
      const { connect, endpoint } = await serveAgents([{ text: "Hello." }]);
      const known = kind === "chat" ? ["anne", "helper", "default"] : ["anne", "chosen", "first"];
      const digest = await digestId(...known);
      const open = (id: string): Promise<Response> =>
        fetch(new URL("/api/sessions", endpoint), {
          method: "POST",
          headers: { authorization: "Bearer key-of-ben", "content-type": "application/json" },
          body: JSON.stringify({ id, agent: "helper" }),
        });
      const owned = kind === "chat" ? ["conversation", "helper", "default"] : ["call", digest];
      expect((await open(await ownedSessionId("mcp", "anne", owned))).status).toBe(403);
      expect((await open(`${kind}-${digest}`)).status).toBe(201);
      const named = kind === "chat" ? { conversation: "default" } : {};
      const _meta = kind === "chat" ? {} : { "loopwright/idempotencyKey": "first" };
      const client = await connect(options);
      const result = await client.callTool({ name: "ask_helper", arguments: { input: "A secret.", ...named }, _meta });
      expect(result.structuredContent).toEqual({
        text: "Hello.",
        status: "completed",
        session: await ownedSessionId("mcp", "anne", owned),
      });
    },
  );

  it("that cancels a call stops its run", async () => {
    const server = await serveAgents([{ text: "Well", hang: true }]);
    const client = await server.connect(options);
    const cancel = new AbortController();
    const call = client.callTool(
      { name: "ask_helper", arguments: { input: "Go." } },
      { signal: cancel.signal, onprogress: () => cancel.abort("enough") },
    );
    await expect(call).rejects.toThrow();
    await expect.poll(() => server.ends, patience).toEqual(["aborted"]);
  });

  it("that repeats a call under the same key gets the same answer, and the run is not repeated", async () => {
    const server = await serveAgents([{ text: "Once." }]);
    const ask = { name: "ask_helper", arguments: { input: "Go." }, _meta: { "loopwright/idempotencyKey": "call-1" } };
    const first = await (await server.connect(options)).callTool(ask);
    const second = await (await server.connect(options)).callTool(ask);
    expect(second.structuredContent).toEqual(first.structuredContent);
    expect(server.provider.requests).toHaveLength(1);
  });

  it("reads a failed run as an error of the tool", async () => {
    const server = await serveAgents([{ error: "MODEL_BAD_REQUEST" }]);
    const result = await (await server.connect(options)).callTool({ name: "ask_helper", arguments: { input: "Go." } });
    expect(result).toMatchObject({ isError: true, structuredContent: { status: "failed" } });
    expect(JSON.stringify(result.content)).toContain("MODEL_BAD_REQUEST");
  });

  it("reads wrong arguments as an error of the tool, and an unknown tool as an error of the protocol", async () => {
    const server = await serveAgents([]);
    const client = await server.connect(options);
    expect(await client.callTool({ name: "ask_helper", arguments: { input: 7 } })).toMatchObject({ isError: true });
    await expect(client.callTool({ name: "ask_nothing", arguments: {} })).rejects.toMatchObject({ code: -32_602 });
  });

  it("may ask two things at once", async () => {
    const server = await serveAgents([{ text: "Same." }, { text: "Same." }]);
    const client = await server.connect(options);
    const ask = (input: string) => client.callTool({ name: "ask_helper", arguments: { input } });
    const [one, other] = await Promise.all([ask("One?"), ask("Two?")]);
    expect([one, other].map((result) => result?.content)).toEqual(Array(2).fill([{ type: "text", text: "Same." }]));
    expect(sessionOf(one)).not.toEqual(sessionOf(other));
  });
});

it("The client of the maintained 1.x SDK finds the agents and asks one", async () => {
  const server = await serveAgents([{ text: "It is raining." }]);
  const client = new OldClient({ name: "old host", version: "1.0.0" });
  await client.connect(new OldTransport(server.endpoint, { requestInit: { headers: { authorization: "Bearer key-of-anne" } } }) as never);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["ask_helper"]);
  const pieces: string[] = [];
  const onprogress = ({ message = "" }: { message?: string | undefined }): void => void pieces.push(message);
  const result = await client.callTool({ name: "ask_helper", arguments: { input: "Is it?" } }, undefined, { onprogress });
  await client.close();
  expect(result.structuredContent).toMatchObject({ text: "It is raining." });
  expect(pieces.join("")).toBe("It is raining.");
});

describe("a call of a tool that awaits approval", () => {
  const remove = defineTool({
    name: "remove",
    description: "Removes a record.",
    parameters: { type: "object", properties: { id: { type: "string" } } },
    approval: "It cannot be undone.",
    execute: () => "removed",
  });
  const script = [{ calls: [{ name: "remove", args: { id: "42" } }] }, { text: "It is gone." }];

  it("is a question to the person at the client, whose answer continues the run", async () => {
    const server = await serveAgents(script, { agent: { tools: [remove] } });
    const client = await server.connect({ ...modern, capabilities: { elicitation: { form: {} } } });
    const questions: string[] = [];
    client.setRequestHandler("elicitation/create", ({ params }) => {
      questions.push(params.message);
      return { action: "accept", content: { allow: true } };
    });
    const result = await client.callTool({ name: "ask_helper", arguments: { input: "Remove 42." } });
    expect(questions).toEqual(['May the agent call remove with {"id":"42"}? It cannot be undone.']);
    expect(result.structuredContent).toMatchObject({ status: "completed", text: "It is gone." });
    expect(JSON.stringify(server.provider.requests[1])).toContain("removed");
  });

  it("is not run when the person declines", async () => {
    const server = await serveAgents(script, { agent: { tools: [remove] } });
    const client = await server.connect({ ...modern, capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler("elicitation/create", () => ({ action: "decline" }));
    await client.callTool({ name: "ask_helper", arguments: { input: "Remove 42." } });
    expect(JSON.stringify(server.provider.requests[1])).toContain("TOOL_DENIED");
  });

  it("waits on the server where the client cannot ask", async () => {
    const server = await serveAgents(script, { agent: { tools: [remove] } });
    const result = await (await server.connect({})).callTool({ name: "ask_helper", arguments: { input: "Remove 42." } });
    expect(result.structuredContent).toMatchObject({ status: "waiting", text: expect.stringContaining("`remove`") });
  });
});

describe("the endpoint", () => {
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };

  it("answers callers that the server knows, and shows only agents that they may see", async () => {
    const server = await serveAgents([], { server: { authorize: (_, action) => action !== "agent.list" } });
    expect((await server.send(list, { authorization: "Bearer unknown" })).status).toBe(401);
    expect((await server.send(list)).status).toBe(403);
  });

  it("refuses pages of other origins, batches and other methods (M04)", async () => {
    const server = await serveAgents([]);
    expect((await server.send(list, { origin: "https://evil.example" })).status).toBe(403);
    expect((await server.send(Array.from({ length: 10_000 }, () => list))).status).toBe(400);
    expect((await server.send("text")).status).toBe(400);
    for (const method of ["GET", "DELETE"])
      expect((await fetch(server.endpoint, { method, headers: { authorization: "Bearer key-of-anne" } })).status).toBe(405);
  });

  it.each([
    ["another user", "ben"],
    ["a user of the same name in another scope", "anne-elsewhere"],
  ])("lets no session of 2025 cancel a call of %s (M04)", async (_, other) => {
    const gate = Promise.withResolvers<void>();
    const server = await serveAgents([{ text: "Still here.", after: gate.promise }]);
    const call = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "ask_helper", arguments: { input: "Go." } } };
    const answer = await server.send(call, { "mcp-session-id": "s-1" });
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
    expect((await server.send(cancel, { "mcp-session-id": "s-1", authorization: `Bearer key-of-${other}` })).status).toBe(202);
    gate.resolve();
    expect(await answer.text()).toContain("Still here.");
    await expect.poll(() => server.ends, patience).toEqual(["completed"]);
  });

  it("cancels the later of two calls under one key after the earlier has ended", async () => {
    const gate = Promise.withResolvers<void>();
    const server = await serveAgents([
      { text: "First.", after: gate.promise },
      { text: "Second", hang: true },
    ]);
    const session = { "mcp-session-id": "s-1" };
    const ask = async (conversation: string, count: number): Promise<Response> => {
      const params = { name: "ask_helper", arguments: { input: "Go.", conversation } };
      const answer = await server.send({ jsonrpc: "2.0", id: 7, method: "tools/call", params }, session);
      await expect.poll(() => server.provider.requests.length, patience).toBe(count);
      return answer;
    };
    const first = await ask("one", 1);
    const second = await ask("two", 2);
    gate.resolve();
    expect(await first.text()).toContain("First.");
    await server.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } }, session);
    await expect.poll(() => server.ends, patience).toEqual(["completed", "aborted"]);
    await second.body?.cancel();
  });

  it("stops the run of a client that left before the run began", async () => {
    const left = new AbortController();
    const authorize = (_: unknown, action: string): boolean => {
      if (action === "agent.list") left.abort();
      return true;
    };
    const server = await serveAgents([{ text: "Well", hang: true }], { server: { authorize } });
    const call = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "ask_helper", arguments: { input: "Go." } } };
    const request = new Request(server.endpoint, {
      method: "POST",
      headers: {
        authorization: "Bearer key-of-anne",
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(call),
      signal: left.signal,
    });
    await server.fetch(request);
    await expect.poll(() => server.ends, patience).toEqual(["aborted"]);
  });
});

describe("tools of the server, one by one", () => {
  const add = defineTool({
    name: "add",
    description: "Adds two numbers.",
    parameters: z.object({ a: z.number(), b: z.number().default(1) }),
    async *execute({ a, b }) {
      yield "adding ";
      return a + b;
    },
  });
  const broken = defineTool({
    ...{ name: "broken", description: "Fails.", parameters: z.object({}) },
    execute: () => Promise.reject(new Error("disk on fire")),
  });
  const open = defineTool({ name: "open", description: "Opens a page at the client.", parameters: z.object({}) });

  it.each(kinds)("are called by a client %s, each call as a run", async (_, options) => {
    const server = await serveAgents([], { tools: [add, broken, open] });
    const client = await server.connect(options);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["ask_helper", "add", "broken"]);
    const pieces: (string | undefined)[] = [];
    const onprogress = ({ message }: { message?: string | undefined }): void => void pieces.push(message);
    const sum = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } }, { onprogress });
    expect([sum, pieces]).toEqual([expect.objectContaining({ content: [{ type: "text", text: "5" }] }), ["adding "]]);
    expect(await client.callTool({ name: "add", arguments: { a: 2 } })).toMatchObject({ content: [{ type: "text", text: "3" }] });
    expect(await client.callTool({ name: "add", arguments: { a: "x" } })).toMatchObject({ isError: true });
    const failure = await client.callTool({ name: "broken", arguments: {} });
    expect(failure).toMatchObject({ isError: true });
    expect(JSON.stringify(failure)).not.toContain("disk on fire");
    await expect.poll(() => server.ends, patience).toEqual(["completed", "completed", "completed"]);
  });
});
