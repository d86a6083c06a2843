import { defineTool } from "@loopwright/core";
import { fixedPrices } from "@loopwright/core/memory";
import type { Message } from "@loopwright/core/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { pickColour, scriptedAgent, testServer } from "../test-server.ts";
import { framesOf } from "./frames-of.ts";
import { annesToken, bearer, payloadScene, people } from "./payload-scene.ts";
import { json, rawExchange, requestText } from "./raw-exchange.ts";

/** Names that every object answers to. */
const inherited = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"];
const forbidden = ["__proto__", "constructor", "prototype"];
const polluted = '{"admin":true,"scope":"kitchen","trusted":true}';

const own = (): readonly string[] =>
  [Object.prototype, Array.prototype, Function.prototype].flatMap((one) => Object.getOwnPropertyNames(one));
let before: readonly string[] = [];
beforeEach(() => {
  before = own();
});
afterEach(() => {
  expect(own()).toEqual(before);
  expect("admin" in {}).toBe(false);
});

describe("H10: a key that reaches into every object", () => {
  it.each(forbidden)("`%s` is refused wherever it stands in a body, and nothing is kept", async (key) => {
    const { send, ask, writes } = await payloadScene();
    await ask("/api/sessions", { json: { id: "a" } });
    const kept = writes.length;
    const bodies: readonly (readonly [path: string, body: string, method?: string])[] = [
      ["/api/sessions", `{"${key}":${polluted}}`],
      ["/api/sessions", `{"metadata":{"${key}":${polluted}}}`],
      ["/api/sessions", `{"metadata":{"a":[{"b":{"${key}":1}}]}}`],
      ["/api/sessions", `{"metadata":{"${key.replace("o", "\\u006f")}":1}}`],
      ["/api/sessions", `{"context":{"tools":[{"name":"t","description":"","parameters":{"properties":{"${key}":{}}}}]}}`],
      ["/api/sessions/a", `{"metadata":{"${key}":1}}`, "PATCH"],
      ["/api/sessions/a/messages", `{"input":"Hi","options":{"${key}":${polluted}}}`],
      ["/api/sessions/a/messages", `{"message":{"role":"user","content":[{"type":"json","value":{"${key}":1}}]}}`],
      ["/api/sessions/a/tool-results", `{"results":[{"role":"tool_result","toolCallId":"c","content":"","details":{"${key}":1}}]}`],
      ["/api/sessions/a/approvals/r.1.0", `{"decision":"allow","args":{"${key}":1}}`],
      ["/api/sessions/a/abort", `{"${key}":{"reason":"x"}}`],
      ["/api/agent/execute", `{"context":{"${key}":${polluted}},"input":"Hi"}`],
    ];
    for (const [path, body, method = "POST"] of bodies) {
      const answer = await send(path, { method, body, headers: json });
      expect([path, answer.status]).toEqual([path, 400]);
      expect(await answer.json()).toMatchObject({ code: "INPUT_INVALID", detail: expect.stringContaining("__proto__") });
    }
    expect(writes).toHaveLength(kept);
  });

  it("T02: in a query, a header or a form gives no caller another scope or more rights", async () => {
    const { port } = await payloadScene({ authenticate: people });
    await rawExchange({ port, bytes: requestText("POST /api/sessions", { ...json, ...bearer("ben-0123456789abcdef0") }, '{"id":"bens"}') });
    for (const query of [
      "__proto__[scope]=kitchen",
      "__proto__.scope=kitchen",
      "constructor[prototype][scope]=kitchen",
      "__proto__=kitchen",
      "scope=kitchen",
      "scope[]=kitchen",
      "teamId=kitchen",
    ]) {
      const headers = { ...bearer(annesToken), __proto__x: "y", "X-Tenant": "kitchen", "X-Team-Id": "kitchen", constructor: "z" };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const bytes = `GET /api/sessions?${query} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n__proto__: {"scope":"kitchen"}\r\n${lines.join("")}\r\n`;
      expect(await rawExchange({ port, bytes })).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"sessions":\[\]\}$/);
    }
  });

  it("T02: that names a user, a team or an owner in a body leaves the session with its caller and the caller's scope", async () => {
    const { send, ask, store } = await payloadScene({ authenticate: people });
    const claims =
      '"scope":"kitchen","scope[]":["kitchen"],"teamId":"kitchen","userId":"ben","user":"ben","resourceId":"bens","roles":["admin"],"trusted":true';
    const bodies: readonly (readonly [path: string, body: string])[] = [
      ["/api/sessions", `{"id":"made",${claims}}`],
      ["/api/agent/execute", `{"sessionId":"asked","context":{},"input":"Hi",${claims}}`],
      ["/api/sessions/made/messages", `{"input":"Hi",${claims}}`],
    ];
    for (const [path, body] of bodies) {
      const answer = await send(path, { body, headers: { ...json, ...bearer(annesToken) } });
      expect([path, answer.ok]).toEqual([path, true]);
      await answer.text();
    }
    expect((await store.index.list("kitchen")).map(({ id }) => id)).toEqual([]);
    for (const session of ["made", "asked"]) {
      const facts = await store.log.read({ scope: "garden", session });
      expect(facts.find(({ type }) => type === "session.opened")).toMatchObject({ participants: ["anne", "helper"] });
      expect(JSON.stringify(facts)).not.toMatch(/kitchen|"ben"|bens|admin/);
    }
    expect((await ask("/api/sessions", { headers: bearer("ben-0123456789abcdef0") })).body).toEqual({ sessions: [] });
  });

  it("T02: that comes twice counts once, the last one, and a scope not at all", async () => {
    const { ask } = await payloadScene({ authenticate: people });
    const body = '{"id":"first","id":"second","scope":"kitchen","scope":"garden","title":"a","title":"b"}';
    const made = await ask("/api/sessions", { body, headers: { ...json, ...bearer(annesToken) } });
    expect(made).toMatchObject({ status: 201, body: { sessionId: "second", title: "b" } });
    expect((await ask("/api/sessions", { headers: bearer("ben-0123456789abcdef0") })).body).toEqual({ sessions: [] });
  });
});

describe("H10: a value that is named like what every object has", () => {
  it.each(inherited)("such as %s is a value like any other: an id, a key, a name, a model", async (name) => {
    const prices = fixedPrices({});
    const { ask, refused, send } = testServer({
      agents: [scriptedAgent([{ text: "Hello." }], { tools: [pickColour], prices })],
      labels: { surface: "any", activeModule: [] },
    });
    await ask("/api/sessions", { json: { id: "a", title: name, metadata: { name } } });
    for (const path of [`/api/sessions/${name}`, `/api/sessions/${name}/events`, `/api/agent/session/${name}`])
      expect(await refused(path)).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
    expect(await refused(`/api/sessions/a/runs/${name}`)).toMatchObject({ status: 404, code: "RUN_NOT_FOUND" });
    expect(await refused(`/api/files/${name}`)).toMatchObject({ status: 404, code: "BLOB_UNKNOWN" });
    expect(await refused(`/api/tools?agent=${name}`)).toMatchObject({ status: 404, code: "AGENT_NOT_FOUND" });
    expect(await refused("/api/sessions", { json: { agent: name } })).toMatchObject({ status: 404, code: "AGENT_NOT_FOUND" });
    expect(await refused(`/api/notifications?session=${name}`)).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
    expect(await refused(`/api/notifications?dialect=${name}`)).toMatchObject({ status: 400, code: "INPUT_INVALID" });
    for (const [body, code] of [
      [{ input: "Hi", options: { activeModule: name } }, "INPUT_INVALID"],
      [{ input: "Hi", options: { labels: { [name]: "x" } } }, "INPUT_INVALID"],
      [{ input: "Hi", parent: name }, "INPUT_INVALID"],
      [{ input: "Hi", mode: name }, "INPUT_INVALID"],
      [{ regenerate: name }, "INPUT_INVALID"],
      [{ message: { role: name, content: "Hi" } }, "INPUT_INVALID"],
      [{ message: { role: "user", content: [{ type: name }] } }, "INPUT_INVALID"],
    ] as const)
      expect(await refused("/api/sessions/a/messages", { json: body })).toMatchObject({ code });
    const results = [{ role: "tool_result", toolCallId: name, content: "x" }];
    expect(await refused("/api/sessions/a/tool-results", { json: { results } })).toMatchObject({ code: "CALL_UNKNOWN" });
    const sent = { json: { input: "Hi", options: { model: name, surface: name } }, headers: { "Idempotency-Key": name } };
    expect((await ask("/api/sessions/a/messages", sent)).body).toMatchObject({ replayed: false });
    expect((await ask("/api/sessions/a/messages", sent)).body).toMatchObject({ replayed: true });
    const frames = await framesOf(await send("/api/sessions/a/events"));
    expect(frames.filter(({ event }) => event === "run_end").map(({ data }) => data["status"])).toEqual(["completed"]);
  });

  it("may be a session's id where it is one, and is then a session like any other", async () => {
    const { ask, send } = testServer();
    expect((await ask("/api/sessions", { json: { id: "constructor" } })).status).toBe(201);
    expect((await ask("/api/sessions/constructor/messages", { json: { input: "Hi" } })).status).toBe(202);
    expect(await (await send("/api/sessions/constructor/events")).text()).toContain("Hello.");
    expect((await send("/api/sessions/constructor", { method: "DELETE" })).status).toBe(204);
  });
});

describe("H10: a model that has learnt of it", () => {
  it.each(inherited)("and calls a tool %s, or sends it as an id or argument, is refused, and nothing runs", async (name) => {
    let ran = 0;
    const tool = defineTool({
      name: "save",
      description: "Saves.",
      parameters: z.looseObject({}),
      execute(args) {
        ran += 1;
        return JSON.stringify(Object.assign({}, args));
      },
    });
    const calls = [
      { name, args: {}, id: "c1" },
      { name: "save", argsText: `{"__proto__":${polluted}}`, id: "c2" },
      { name: "save", argsText: `{"a":{"constructor":{"prototype":${polluted}}}}`, id: name },
    ];
    const agent = scriptedAgent([{ calls }, { text: "Well." }], { tools: [tool] });
    const { send } = testServer({ agents: [agent] });
    const frames = await framesOf(await send("/api/agent/execute", { json: { sessionId: "a", context: {}, input: "Go" } }));
    const written = frames.find(({ event }) => event === "session_end")?.data["messages"] as readonly Message[];
    const results = written.filter((message) => message.role === "tool_result").map(({ toolCallId, outcome }) => [toolCallId, outcome]);
    expect(results).toEqual(["c1", "c2", name].map((id) => [id, "error"]));
    expect(ran).toBe(0);
    expect(frames.at(-1)).toMatchObject({ event: "execute_complete", data: { status: "completed" } });
  });
});

describe("H10: a client tool", () => {
  it.each(inherited)("that is called %s is either refused or a tool like any other", async (name) => {
    const agent = scriptedAgent([{ calls: [{ name, args: { a: 1 }, id: "c1" }] }, { text: "Well." }]);
    const { send, refused } = testServer({ agents: [agent] });
    const context = { tools: [{ name, description: "Is named oddly.", parameters: { type: "object" } }] };
    const sent = { json: { sessionId: "a", context, input: "Go" } };
    if (forbidden.includes(name)) {
      expect(await refused("/api/agent/execute", sent)).toMatchObject({ status: 400, code: "INPUT_INVALID" });
      return;
    }
    const frames = await framesOf(await send("/api/agent/execute", sent));
    expect(frames.at(-1)).toMatchObject({ event: "execute_complete", data: { status: "awaiting_tool_execution" } });
    const results = [{ role: "tool_result", toolCallId: "c1", content: "ok" }];
    const rest = await framesOf(await send("/api/agent/execute", { json: { sessionId: "a", input: results } }));
    expect(rest.at(-1)).toMatchObject({ event: "execute_complete", data: { status: "completed" } });
  });
});
