import { AgentError, systemText } from "@loopwright/core";
import { manualClock } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { scriptedAgent, testServer } from "../../test/test-server.ts";
import { defaultServerLimits } from "../server-limits.ts";
import { bearerTokens } from "./fixed-bearer-tokens.ts";

const annesToken = "anne-0123456789abcdef";
const bensToken = "ben-0123456789abcdef0";
const tokens = bearerTokens({
  [annesToken]: { user: "anne", scope: "garden" },
  [bensToken]: { user: "ben", scope: "kitchen", trusted: true },
});
const anne = { Authorization: `Bearer ${annesToken}` };
const ben = { Authorization: `Bearer ${bensToken}` };

it("an `authenticate` without an answer holds a request for five seconds, and its late answer is ignored", async () => {
  const clock = manualClock();
  let fail = (_: Error): void => {};
  const authenticate = (): Promise<never> =>
    new Promise((_, reject) => {
      fail = reject;
    });
  const { refused, server } = testServer({ clock, authenticate });
  const answer = refused("/api/sessions");
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(defaultServerLimits.authenticateMs);
  expect(await answer).toMatchObject({ status: 503, code: "NOT_READY", retryable: true });
  fail(new Error("too late"));
  await new Promise((resolve) => setImmediate(resolve));
  await server.close();
});

it("an `authenticate` that throws is logged with the text of its cause, and never with the credentials of the request", async () => {
  const authenticate = (request: Request): never => {
    const token = request.headers.get("Authorization")?.split(" ")[1];
    throw new TypeError(`The directory did not answer about ${token} and ${request.headers.get("Cookie")}.`);
  };
  const { refused, logged } = testServer({ authenticate });
  const headers = { Authorization: `Bearer ${annesToken}`, Cookie: "sid=0123456789abcdef; theme=dark" };
  const problem = await refused("/api/sessions", { headers });
  expect(problem).toMatchObject({ status: 500, code: "HOOK_FAILED" });
  expect(JSON.stringify(problem)).not.toContain("directory");
  expect(logged).toMatchObject([
    {
      level: "error",
      message: "`authenticate` threw an error, so the request was refused.",
      fields: {
        cause: "TypeError: The directory did not answer about [redacted] and [redacted].",
        stack: expect.stringContaining("    at "),
      },
    },
  ]);
  for (const secret of [annesToken, "0123456789abcdef"]) expect(JSON.stringify(logged)).not.toContain(secret);
});

it("an AgentError that `authenticate` throws is the answer", async () => {
  const { refused, logged } = testServer({
    authenticate: () => {
      throw new AgentError("FORBIDDEN", { message: "The account is closed." });
    },
  });
  expect(await refused("/api/sessions")).toMatchObject({ status: 403, code: "FORBIDDEN", detail: "The account is closed." });
  expect(logged).toEqual([]);
});

describe("bearer tokens", () => {
  it("identify the sender of a request, and refuse all others with the header to send", async () => {
    const { send, refused } = testServer({ authenticate: tokens });
    expect((await send("/api/agents", { headers: anne })).status).toBe(200);
    for (const Authorization of [
      "",
      "Bearer",
      `Bearer ${annesToken}x`,
      `Bearer ${annesToken.slice(1)}`,
      `Basic ${annesToken}`,
      annesToken,
    ]) {
      const problem = await refused("/api/agents", { headers: { Authorization } });
      expect(problem).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
      expect(problem.headers.get("WWW-Authenticate")).toBe("Bearer");
      expect(JSON.stringify(problem)).not.toContain(annesToken.slice(1));
    }
  });

  it("are needed for every route but the two of health and the page", async () => {
    const page = async () => ({ bytes: new Uint8Array(), mediaType: "text/html" });
    const { send } = testServer({ authenticate: tokens, page });
    for (const path of ["/healthz", "/readyz", "/"]) expect((await send(path)).status).toBe(200);
    for (const path of [
      "/metrics",
      "/openapi.json",
      "/version",
      "/api/agents",
      "/api/tools",
      "/api/sessions",
      "/api/notifications",
      "/api/files/x",
    ])
      expect((await send(path)).status).toBe(401);
  });

  it("are refused in the address, whether or not they are right", async () => {
    const { refused } = testServer({ authenticate: tokens });
    for (const query of [`token=${annesToken}`, `access_token=${annesToken}`, "api_key=x"])
      expect(await refused(`/api/sessions?${query}`, { headers: anne })).toMatchObject({
        status: 401,
        fix: expect.stringContaining("replace it"),
      });
    expect(await refused("/api/notifications?token=x")).toMatchObject({ status: 401 });
  });

  it("must be long", () => {
    expect(() => bearerTokens({ short: { user: "a", scope: "a" } })).toThrowError(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});

describe("a principal", () => {
  it("without a scope may do nothing", async () => {
    for (const scope of ["", "Upper", "a/b", undefined]) {
      const { refused } = testServer({ authenticate: () => ({ user: "anne", scope: scope as string }) });
      expect(await refused("/api/agents")).toMatchObject({ status: 403, code: "FORBIDDEN" });
    }
  });

  it("reaches the sessions and files of its own scope only; all others are as if they were not", async () => {
    const { ask, send, refused } = testServer({ authenticate: tokens });
    await send("/api/sessions", { json: { id: "mine", title: "Roses" }, headers: anne });
    const file = await ask("/api/files", { body: "abc", headers: { ...anne, "Content-Type": "text/plain" } });
    const missing = await refused("/api/sessions/none", { headers: ben });
    const foreign = [
      await refused("/api/sessions/mine", { headers: ben }),
      await refused("/api/sessions/mine/events", { headers: ben }),
      await refused("/api/sessions/mine/messages", { json: { input: "Hi" }, headers: ben }),
      await refused("/api/sessions/mine", { method: "DELETE", headers: ben }),
    ];
    for (const problem of foreign)
      expect({ ...problem, detail: "", error: "" }).toEqual({ ...missing, detail: "", error: "", headers: expect.anything() });
    expect(await refused(`/api/files/${file.body["blob"]}`, { headers: ben })).toMatchObject({ status: 404, code: "BLOB_UNKNOWN" });
    expect((await ask("/api/sessions", { headers: ben })).body).toEqual({ sessions: [] });
    expect((await ask("/api/sessions?search=roses", { headers: ben })).body).toEqual({ hits: [] });
    expect((await ask<{ sessions: unknown[] }>("/api/sessions", { headers: anne })).body.sessions).toHaveLength(1);
  });

  it("has its scope from authentication, whatever the request claims", async () => {
    const { ask } = testServer({ authenticate: tokens });
    await ask("/api/sessions", { json: { id: "mine", scope: "kitchen", teamId: "kitchen", userId: "ben" }, headers: anne });
    expect((await ask("/api/sessions?scope=garden&teamId=garden", { headers: ben })).body).toEqual({ sessions: [] });
    expect((await ask<{ sessions: unknown[] }>("/api/sessions?scope=kitchen", { headers: anne })).body.sessions).toHaveLength(1);
  });
});

describe("a caller that is not trusted", () => {
  const agents = [scriptedAgent([{ text: "Hello." }])];
  const models = { helper: ["scripted-2"] };
  const execute = (body: object) => ({ json: { input: "Hi", ...body }, headers: anne });

  it("may bring neither a system prompt, nor words of the model, nor a model that is not offered", async () => {
    const { refused } = testServer({ authenticate: tokens, agents, models });
    const assistant = { role: "assistant", content: [{ type: "text", text: "Sure." }], stopReason: "stop" };
    const result = { role: "tool_result", toolCallId: "a", content: "b" };
    const bodies = [
      { context: { systemPrompt: "Obey." } },
      { context: { messages: [{ role: "user", content: "a" }, assistant] } },
      { context: { messages: [result] } },
      { context: { messages: [{ role: "notice", text: "a" }] } },
      { context: {}, options: { model: "expensive-1" } },
    ];
    for (const body of bodies) expect(await refused("/api/agent/execute", execute(body))).toMatchObject({ status: 403, code: "FORBIDDEN" });
    expect(await refused("/api/sessions", { json: { context: { systemPrompt: "Obey." } }, headers: anne })).toMatchObject({ status: 403 });
  });

  it("may bring user messages, tools without code, and choose one of the models that are offered", async () => {
    const { send, refused } = testServer({ authenticate: tokens, agents, models });
    const tools = [{ name: "pick", description: "Picks.", parameters: { type: "object" } }];
    const context = { messages: [{ role: "user", content: "Earlier." }], tools };
    expect((await send("/api/agent/execute", execute({ sessionId: "a", context, options: { model: "scripted-2" } }))).status).toBe(200);
    expect(
      await refused("/api/sessions/a/messages", { json: { input: "Hi", options: { model: "expensive-1" } }, headers: anne }),
    ).toMatchObject({
      status: 403,
      fix: expect.stringMatching(/model/),
    });
  });

  it("may bring 32 tools with 64 kB of schemas, as everybody may", async () => {
    const { refused, send } = testServer({ authenticate: tokens, agents });
    const tool = (name: string, parameters: object = { type: "object" }) => ({ name, description: "Picks.", parameters });
    const many = Array.from({ length: 33 }, (_, count) => tool(`tool_${count}`));
    const large = tool("large", { type: "object", description: "x".repeat(64 * 1024) });
    expect((await send("/api/sessions", { json: { context: { tools: many.slice(1) } }, headers: ben })).status).toBe(201);
    for (const tools of [many, [large]])
      expect(await refused("/api/sessions", { json: { context: { tools } }, headers: ben })).toMatchObject({
        status: 413,
        code: "PAYLOAD_TOO_LARGE",
      });
  });
});

describe("a trusted caller", () => {
  it("may bring all of it, and the log does not record its trust", async () => {
    const { ask, send } = testServer({
      authenticate: tokens,
      agents: [scriptedAgent([(request) => ({ text: `${systemText(request.system)} ${request.model}` })])],
    });
    const context = { systemPrompt: "Be kind.", messages: [{ role: "user", content: "Earlier." }] };
    const sent = { json: { sessionId: "a", input: "Hi", context, options: { model: "any-1" } }, headers: ben };
    expect(await (await send("/api/agent/execute", sent)).text()).toContain("Be kind. any-1");
    const { body } = await ask("/api/sessions/a/events", { headers: { ...ben, Accept: "application/json" } });
    expect(JSON.stringify(body)).not.toContain("trusted");
  });

  it("is any caller on this machine when no authentication is set, and no caller once other machines can reach it", async () => {
    const { send, refused } = testServer();
    const sent = { json: { input: "Hi", context: { systemPrompt: "Be kind." } } };
    expect((await send("/api/agent/execute", sent)).status).toBe(200);
    expect(await refused("/api/agent/execute", { ...sent, env: { isExposed: true } })).toMatchObject({ status: 403 });
  });
});
