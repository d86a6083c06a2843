import { AgentError, type Json, systemText } from "@loopwright/core";
import { memoryChannel, memoryStore } from "@loopwright/core/memory";
import type { PendingToolCall, SessionSnapshot } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { eventsOf, pickColour, scriptedAgent, type TestServer, testServer } from "../../test/test-server.ts";
import { routeTable } from "../http/route-table.ts";
import type { AgentList, SubmissionAnswer } from "../schemas/index.ts";

const key = (value: string) => ({ "Idempotency-Key": value });
const clientCall = scriptedAgent([{ calls: [{ name: "pick_colour", args: { hint: "warm" }, id: "c1" }] }, { text: "Red it is." }], {
  tools: [pickColour],
});

const snapshotOf = async ({ ask }: TestServer, id: string): Promise<SessionSnapshot> =>
  (await ask<SessionSnapshot>(`/api/sessions/${id}`)).body;

describe("sessions", () => {
  it("are begun, read, named anew and deleted", async () => {
    const { ask, send, refused } = testServer();
    const made = await ask<SessionSnapshot>("/api/sessions", { json: { id: "first", title: "Roses", metadata: { colour: "red" } } });
    expect(made.status).toBe(201);
    expect(made.headers.get("Location")).toBe("/api/sessions/first");
    expect(made.body).toMatchObject({
      sessionId: "first",
      agent: "helper",
      title: "Roses",
      metadata: { colour: "red" },
      status: "idle",
      messages: [],
    });
    expect((await ask("/api/sessions/first")).body).toEqual(made.body);
    const changed = await ask<SessionSnapshot>("/api/sessions/first", { method: "PATCH", json: { title: "Tulips" } });
    expect(changed.body).toMatchObject({ title: "Tulips", metadata: { colour: "red" } });
    expect((await send("/api/sessions/first", { method: "DELETE" })).status).toBe(204);
    expect(await refused("/api/sessions/first")).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
    expect(await refused("/api/sessions/first", { method: "DELETE" })).toMatchObject({ status: 404 });
    expect((await ask("/api/sessions")).body).toEqual({ sessions: [] });
  });

  it("begin with their context: messages, tools and a prompt of their own", async () => {
    const server = testServer({
      agents: [scriptedAgent([(request) => ({ text: `<${systemText(request.system)}> ${request.tools?.map(({ name }) => name)}` })])],
    });
    const tools = [{ name: "pick", description: "Picks.", parameters: { type: "object" }, execute: "left out" }];
    const context = { systemPrompt: "Be kind.", messages: [{ role: "user", content: "Earlier." }], tools };
    await server.ask("/api/sessions", { json: { id: "a", context } });
    await server.ask("/api/sessions/a/messages", { json: { input: "Hi" } });
    expect(await eventsOf(server, "a")).toContain("<Be kind.> pick");
    expect((await snapshotOf(server, "a")).messages.map(({ message }) => message.role)).toEqual(["user", "user", "assistant"]);
  });

  it("exist once under an id, also while two begin it at once", async () => {
    const { send, refused } = testServer();
    const both = await Promise.all([1, 2].map(() => send("/api/sessions", { json: { id: "a" } })));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(await refused("/api/sessions", { json: { id: "a" } })).toMatchObject({ status: 409, code: "SESSION_EXISTS" });
    expect(await refused("/api/sessions", { json: { agent: "nobody" } })).toMatchObject({ status: 404, code: "AGENT_NOT_FOUND" });
  });

  it("are listed page by page, newest change first, and found by their words", async () => {
    const { ask } = testServer();
    for (const id of ["a", "b", "c", "d", "e"]) await ask("/api/sessions", { json: { id, title: `Number ${id}` } });
    const ids: string[] = [];
    let next: string | undefined;
    do {
      const { body } = await ask<{ sessions: { id: string }[]; next?: string }>(`/api/sessions?limit=2${next ? `&before=${next}` : ""}`);
      expect(body.sessions.length).toBeLessThanOrEqual(2);
      ids.push(...body.sessions.map(({ id }) => id));
      next = body.next;
    } while (next);
    expect(ids.sort()).toEqual(["a", "b", "c", "d", "e"]);
    const { body } = await ask<{ hits: { session: { id: string } }[] }>("/api/sessions?search=numb%20c");
    expect(body.hits.map(({ session }) => session.id)).toEqual(["c"]);
    expect((await ask("/api/sessions?search=%22*%27%3B--")).status).toBe(200);
  });

  it("are listed by a store without search, which answers every search with 501 SEARCH_UNSUPPORTED", async () => {
    const real = memoryStore();
    const search = async (): Promise<never> => {
      throw new AgentError("SEARCH_UNSUPPORTED", { message: "This store has no search." });
    };
    const { ask } = testServer({ store: { ...real, index: { ...real.index, search } } });
    await ask("/api/sessions", { json: { id: "a", title: "Number" } });
    expect((await ask<{ sessions: unknown[] }>("/api/sessions")).body.sessions).toHaveLength(1);
    expect(await ask("/api/sessions?search=number")).toMatchObject({
      status: 501,
      body: { code: "SEARCH_UNSUPPORTED", fix: expect.stringContaining("in the list") },
    });
  });

  it("show by their tag whether they have changed", async () => {
    const { ask, send } = testServer();
    await ask("/api/sessions", { json: { id: "a" } });
    const tag = (await send("/api/sessions/a")).headers.get("ETag") ?? "";
    expect((await send("/api/sessions/a", { headers: { "If-None-Match": tag } })).status).toBe(304);
    await ask("/api/sessions/a", { method: "PATCH", json: { title: "New" } });
    expect((await send("/api/sessions/a", { headers: { "If-None-Match": tag } })).status).toBe(200);
  });

  it("are not found by ids that can be none", async () => {
    const { refused } = testServer();
    for (const id of ["A", "a%2fb", "%00", "a".repeat(65), "__proto__", "-a"])
      expect(await refused(`/api/sessions/${id}`)).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
  });

  it("continue on the branch that is chosen", async () => {
    const server = testServer({ agents: [scriptedAgent([{ text: "One." }, { text: "Two." }])] });
    const { ask, refused } = server;
    await ask("/api/sessions", { json: { id: "a" } });
    await ask("/api/sessions/a/messages", { json: { input: "First" } });
    await eventsOf(server, "a");
    const { messages } = await snapshotOf(server, "a");
    const [first, answer] = messages;
    await ask("/api/sessions/a/messages", { json: { regenerate: first?.id } });
    await eventsOf(server, "a");
    const after = await snapshotOf(server, "a");
    expect(after.head).not.toBe(answer?.id);
    const moved = await ask<SessionSnapshot>("/api/sessions/a", { method: "PATCH", json: { head: answer?.id } });
    expect(moved.body.head).toBe(answer?.id);
    expect((await ask<SessionSnapshot>("/api/sessions/a", { method: "PATCH", json: { head: null } })).body.head).toBeNull();
    expect(await refused("/api/sessions/a", { method: "PATCH", json: { head: "999" } })).toMatchObject({
      status: 400,
      code: "INPUT_INVALID",
    });
    expect(await refused("/api/sessions/a", { method: "PATCH", json: {} })).toMatchObject({ status: 400 });
  });
});

describe("messages", () => {
  it("are accepted at once, while the answer comes on the events", async () => {
    const server = testServer({ agents: [scriptedAgent([{ text: "Thinking", hang: true }])] });
    const { ask, refused } = server;
    await ask("/api/sessions", { json: { id: "a" } });
    const accepted = await ask<SubmissionAnswer>("/api/sessions/a/messages", { json: { message: "Hi" } });
    expect(accepted).toMatchObject({ status: 202, body: { sessionId: "a", replayed: false, seq: expect.any(Number) } });
    expect((await snapshotOf(server, "a")).run?.runId).toBe(accepted.body.runId);
    expect(await refused("/api/sessions/a/messages", { json: { input: "Again", mode: "reject" } })).toMatchObject({
      status: 409,
      code: "SESSION_BUSY",
    });
    expect((await ask("/api/sessions/a/abort", { json: { reason: "enough" } })).body).toEqual({ aborting: true });
    const events = await eventsOf(server, "a");
    expect(events).toContain('"status":"aborted"');
    expect((await snapshotOf(server, "a")).messages.at(-1)?.message).toMatchObject({
      stopReason: "aborted",
      content: [{ text: "Thinking" }],
    });
  });

  it("are recorded once under one key", async () => {
    const server = testServer();
    const { ask, refused } = server;
    await ask("/api/sessions", { json: { id: "a" } });
    const first = await ask<SubmissionAnswer>("/api/sessions/a/messages", { json: { input: "Hi" }, headers: key("k-1") });
    const again = await ask<SubmissionAnswer>("/api/sessions/a/messages", { json: { input: "Hi" }, headers: key("k-1") });
    expect([first.status, again.status]).toEqual([202, 200]);
    expect(again.body).toEqual({ ...first.body, replayed: true });
    expect(await refused("/api/sessions/a/messages", { json: { input: "Other" }, headers: key("k-1") })).toMatchObject({
      status: 422,
      code: "KEY_REUSED",
    });
    for (const bad of ["a b", "x".repeat(201)])
      expect(await refused("/api/sessions/a/messages", { json: { input: "Hi" }, headers: key(bad) })).toMatchObject({ status: 400 });
    await eventsOf(server, "a");
    expect((await snapshotOf(server, "a")).messages.filter(({ message }) => message.role === "user")).toHaveLength(1);
  });

  it("are refused with what is wrong with them", async () => {
    const { ask, refused } = testServer();
    await ask("/api/sessions", { json: { id: "a" } });
    const wrong: readonly Record<string, Json>[] = [
      {},
      { input: "a", message: "b" },
      { input: "  " },
      { input: [] },
      { input: { role: "assistant", content: [] } },
      { message: { role: "user", content: [{ type: "image", mediaType: "image/png", source: { url: "http://x/a.png" } }] } },
      { message: { role: "user", content: [{ type: "image", mediaType: "image/png", source: { url: "https://x/a.png", data: "a" } }] } },
      { input: "a", mode: "later" },
      { input: "a", parent: "999" },
      { input: "a", options: { temperature: 3 } },
      { input: "a", options: { maxTokens: 0 } },
      { regenerate: "999" },
    ];
    for (const json of wrong)
      expect(await refused("/api/sessions/a/messages", { json })).toMatchObject({ status: 400, code: "INPUT_INVALID" });
    expect(await refused("/api/sessions/none/messages", { json: { input: "a" } })).toMatchObject({ status: 404 });
  });

  it("T12: are limited in how many sessions of one caller move at once", async () => {
    const server = testServer({ agents: [scriptedAgent([{ text: "Hm", hang: true }])], limits: { runsPerPrincipal: 2 } });
    const { ask, refused } = server;
    for (const id of ["a", "b", "c"]) await ask("/api/sessions", { json: { id } });
    const statuses = await Promise.all(
      ["a", "b", "c"].map(async (id) => (await ask(`/api/sessions/${id}/messages`, { json: { input: "Hi" } })).status),
    );
    expect(statuses.sort()).toEqual([202, 202, 429]);
    const problem = await refused("/api/agent/execute", { json: { context: {}, input: "Hi" } });
    expect(problem).toMatchObject({ code: "RUN_LIMIT", retryable: true });
    expect(problem.headers.get("Retry-After")).toBe("5");
    const moving = (await Promise.all(["a", "b", "c"].map((id) => snapshotOf(server, id)))).find(({ run }) => run)?.sessionId ?? "";
    expect((await ask(`/api/sessions/${moving}/messages`, { json: { input: "And" } })).status).toBe(202);
    await ask(`/api/sessions/${moving}/abort`, { method: "POST" });
    await ask(`/api/sessions/${moving}/abort`, { method: "POST" });
    await server.send(`/api/sessions/${moving}`, { method: "DELETE" });
    await ask("/api/sessions", { json: { id: "d" } });
    expect((await ask("/api/sessions/d/messages", { json: { input: "Hi" } })).status).toBe(202);
  });
});

describe("tool results", () => {
  it("continue a run that waits for its caller", async () => {
    const server = testServer({ agents: [clientCall] });
    const { ask, refused } = server;
    await ask("/api/sessions", { json: { id: "a" } });
    await ask("/api/sessions/a/messages", { json: { input: "Pick one" } });
    await eventsOf(server, "a");
    const [call] = (await snapshotOf(server, "a")).run?.pendingToolCalls ?? ([] as readonly PendingToolCall[]);
    expect(call).toMatchObject({ toolName: "pick_colour", args: { hint: "warm" } });
    const result = (content: string) => ({ json: { results: [{ role: "tool_result", toolCallId: call?.toolCallId, content }] } });
    expect(await refused("/api/sessions/a/tool-results", { json: { results: [] } })).toMatchObject({ status: 400 });
    expect(
      await refused("/api/sessions/a/tool-results", { json: { results: [{ role: "tool_result", toolCallId: "zz", content: "a" }] } }),
    ).toMatchObject({
      status: 404,
      code: "CALL_UNKNOWN",
    });
    expect((await ask("/api/sessions/a/tool-results", result("red"))).status).toBe(202);
    expect(await ask("/api/sessions/a/tool-results", result("red"))).toMatchObject({ status: 200, body: { replayed: true } });
    expect(await refused("/api/sessions/a/tool-results", result("blue"))).toMatchObject({ status: 409, code: "CALL_ANSWERED" });
    expect(await eventsOf(server, "a")).toContain("Red it is.");
  });
});

describe("runs", () => {
  it("are read as their events", async () => {
    const server = testServer();
    const { ask, refused } = server;
    await ask("/api/sessions", { json: { id: "a" } });
    const runs: string[] = [];
    for (const input of ["One", "Two"]) {
      runs.push((await ask<SubmissionAnswer>("/api/sessions/a/messages", { json: { input } })).body.runId);
      await eventsOf(server, "a");
    }
    const { body } = await ask<{ runId: string; events: { type: string; runId: string }[] }>(`/api/sessions/a/runs/${runs[1]}`);
    expect(body.events[0]?.type).toBe("input_accepted");
    expect(body.events.at(-1)?.type).toBe("run_end");
    expect(new Set(body.events.map(({ runId }) => runId))).toEqual(new Set([runs[1]]));
    expect(await refused("/api/sessions/a/runs/none")).toMatchObject({ status: 404, code: "RUN_NOT_FOUND" });
  });
});

describe("the execute route", () => {
  it("needs a context or an agent for a new session, and names it in the terms of its clients", async () => {
    const { refused, send } = testServer();
    for (const json of [{ input: "Hi" }, { sessionId: "unknown", input: "Hi" }])
      expect(await refused("/api/agent/execute", { json })).toMatchObject({ status: 400, error: "Context required for new session" });
    expect((await send("/api/agent/execute", { json: { input: "Hi", agent: "helper" } })).status).toBe(200);
    expect(await refused("/api/agent/execute", { json: { input: "Hi", agent: "nobody" } })).toMatchObject({
      status: 404,
      code: "AGENT_NOT_FOUND",
    });
  });

  it("begins one session for one key, also without an id and from two nodes at once", async () => {
    const store = memoryStore();
    const channel = memoryChannel();
    const nodes = [testServer({ store, channel }), testServer({ store, channel })];
    const sent = { json: { context: {}, input: "Hi" }, headers: key("first-try") };
    const answers = await Promise.all([...nodes, ...nodes].map(async ({ send }) => send("/api/agent/execute", sent)));
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    for (const text of texts) expect(text).toContain('"status":"completed"');
    const ids = new Set(answers.map(({ headers }) => headers.get("X-Session-Id")));
    expect(ids.size).toBe(1);
    const [id = ""] = [...ids];
    expect((await snapshotOf(nodes[0] as TestServer, id ?? "")).messages).toHaveLength(2);
  });

  it("gives the conversation to the route beside it", async () => {
    const { send, ask, refused } = testServer();
    await (await send("/api/agent/execute", { json: { sessionId: "a", context: {}, input: "Hi" } })).text();
    const { body } = await ask<{ messages: unknown[] }>("/api/agent/session/a");
    expect(body.messages).toMatchObject([{ role: "user", content: "Hi" }, { role: "assistant" }]);
    expect(await refused("/api/agent/session/none")).toMatchObject({ status: 404, error: "Session not found" });
  });
});

describe("files", () => {
  /** The header of one pixel. */
  const png = new Uint8Array([
    ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    ...[0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52],
    ...[0, 0, 0, 1, 0, 0, 0, 1],
  ]);

  it("are kept once under their digest, and become part of a message", async () => {
    const seen: unknown[] = [];
    const agent = scriptedAgent([
      (request) => {
        seen.push(request.messages.at(-1));
        return { text: "A picture." };
      },
    ]);
    const server = testServer({ agents: [agent] });
    const { ask, send, refused } = server;
    const upload = { body: png, headers: { "Content-Type": "image/png", "X-File-Name": encodeURIComponent("C:\\Bilder\\Blüte.png") } };
    const { status, body } = await ask<{ blob: string }>("/api/files", upload);
    expect(status).toBe(201);
    expect(body).toEqual({
      blob: expect.stringMatching(/^upload-[0-9a-f]{64}$/),
      mediaType: "image/png",
      sizeBytes: 24,
      name: "Blüte.png",
    });
    expect((await ask("/api/files", upload)).body).toEqual(body);
    const file = await send(`/api/files/${body.blob}`);
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(png);
    expect(file.headers.get("Content-Type")).toBe("image/png");
    expect(file.headers.get("Content-Disposition")).toBe("inline");
    expect(file.headers.get("Content-Security-Policy")).toContain("sandbox");
    expect(file.headers.get("X-Content-Type-Options")).toBe("nosniff");
    const part = (blob: string) => ({ role: "user", content: [{ type: "image", mediaType: "image/png", source: { blob } }] });
    await ask("/api/sessions", { json: { id: "a" } });
    expect((await ask("/api/sessions/a/messages", { json: { message: part(body.blob) } })).status).toBe(202);
    await eventsOf(server, "a");
    expect(seen).toMatchObject([{ content: [{ source: { data: Buffer.from(png).toString("base64") } }] }]);
    const unknown = { json: { message: part(`upload-${"0".repeat(64)}`) } };
    expect(await refused("/api/sessions/a/messages", unknown)).toMatchObject({ status: 404, code: "BLOB_UNKNOWN" });
    expect(await refused("/api/agent/execute", { json: { input: part(`upload-${"0".repeat(64)}`), context: {} } })).toMatchObject({
      code: "BLOB_UNKNOWN",
    });
  });

  it("that could run script are never shown in place (P08)", async () => {
    const { ask, send } = testServer();
    for (const type of ["text/html", "image/svg+xml", "application/xhtml+xml", "text/javascript"]) {
      const { body } = await ask<{ blob: string }>("/api/files", { body: `<script>${type}</script>`, headers: { "Content-Type": type } });
      expect((await send(`/api/files/${body.blob}`)).headers.get("Content-Disposition")).toBe("attachment");
    }
  });

  it("are refused when they are empty, too large, of no type, or not there", async () => {
    const { refused, send } = testServer({ limits: { fileBytes: 24 } });
    const type = { "Content-Type": "image/png" };
    expect((await send("/api/files", { body: png, headers: type })).status).toBe(201);
    expect(await refused("/api/files", { body: new Uint8Array(25), headers: type })).toMatchObject({
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
    });
    expect(await refused("/api/files", { body: new Uint8Array(), headers: type })).toMatchObject({ status: 400 });
    expect(await refused("/api/files", { body: png })).toMatchObject({ status: 415 });
    expect(await refused("/api/files", { body: png, headers: { "Content-Type": "png" } })).toMatchObject({ status: 415 });
    for (const name of ["%ff", "a%00b", "x".repeat(256), "%0d%0aSet-Cookie:a"])
      expect(await refused("/api/files", { body: png, headers: { ...type, "X-File-Name": name } })).toMatchObject({ status: 400 });
    for (const blob of ["x", `upload-${"a".repeat(64)}`, "upload-..%2f..%2fx", "facts"])
      expect(await refused(`/api/files/${blob}`)).toMatchObject({ status: 404, code: "BLOB_UNKNOWN" });
  });
});

describe("the description of the server itself", () => {
  it("names its agents, models and tools", async () => {
    const { ask, refused } = testServer({ agents: [clientCall], models: { helper: ["scripted-2"] } });
    expect((await ask<AgentList>("/api/agents")).body).toEqual({
      agents: [
        {
          name: "helper",
          model: "scripted-1",
          contextTokens: {},
          limits: { turnsMax: 10, toolCallsMax: 0, tokensMax: 0, costUsdMax: 0, durationMs: 0 },
          models: ["scripted-1", "scripted-2"],
          tools: [{ name: "pick_colour", label: "Pick a colour", description: "Asks the person for a colour.", home: "client" }],
        },
      ],
      default: "helper",
    });
    expect((await ask("/api/tools?agent=helper")).body).toMatchObject({ tools: [{ name: "pick_colour" }] });
    expect(await refused("/api/tools?agent=nobody")).toMatchObject({ status: 404, code: "AGENT_NOT_FOUND" });
  });

  it("counts runs, streams and requests for Prometheus", async () => {
    const { ask, send, refused } = testServer({ agents: [scriptedAgent([{ text: "Hm", hang: true }])] });
    await ask("/api/sessions", { json: { id: "a" } });
    await ask("/api/sessions/a/messages", { json: { input: "Hi" } });
    const stream = await send("/api/sessions/a/events?from=now");
    await refused("/api/sessions/b");
    const answer = await send("/metrics");
    expect(answer.headers.get("Content-Type")).toContain("version=0.0.4");
    const lines = (await answer.text()).split("\n");
    expect(lines).toContain("loopwright_runs_active 1");
    expect(lines).toContain("loopwright_sse_clients 1");
    expect(lines).toContain('loopwright_requests_total{method="POST",route="/api/sessions",status="201"} 1');
    expect(lines).toContain('loopwright_requests_total{method="GET",route="/api/sessions/:id",status="404"} 1');
    await stream.body?.cancel();
  });

  it("counts the verdicts of hooks for Prometheus, also those that changed nothing", async () => {
    const hooks = [{ name: 'the "strict" one', accept: () => ({ action: "allow" }) as const }];
    const { ask, send } = testServer({ agents: [scriptedAgent(undefined, { hooks })] });
    for (const id of ["a", "b"]) await ask("/api/sessions", { json: { id } });
    for (const id of ["a", "b"]) await ask(`/api/sessions/${id}/messages`, { json: { input: "Hi" } });
    const lines = (await (await send("/metrics")).text()).split("\n");
    expect(lines).toContain('loopwright_hook_verdicts_total{agent="helper",hook="the \\"strict\\" one",point="accept",action="allow"} 2');
  });

  it("is not ready while its store does not answer", async () => {
    const store = memoryStore();
    const broken = { ...store, log: { ...store.log, head: () => Promise.reject(new Error("gone")) } };
    const { refused, send } = testServer({ store: broken });
    expect(await refused("/readyz")).toMatchObject({ status: 503, code: "NOT_READY" });
    expect((await send("/healthz")).status).toBe(200);
  });

  it("has every route once", () => {
    const names = routeTable.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(routeTable.map(({ id }) => id)).size).toBe(names.length);
  });
});

describe("product notifications", () => {
  it("reach the principals that they are for, and their type is a name", async () => {
    const { server, send } = testServer();
    const stream = await send("/api/notifications");
    server.notify("local", { type: "job_progress", data: { percent: 50 } });
    const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("job_progress")) text += (await reader.read()).value ?? "";
    expect(text).toContain('"data":{"percent":50}');
    await reader.cancel();
    expect(() => server.notify("local", { type: "Job\r\nevent: evil" })).toThrowError(expect.objectContaining({ code: "INPUT_INVALID" }));
  });
});
