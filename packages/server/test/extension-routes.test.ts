import { createClient } from "@loopwright/client";
import { AgentError } from "@loopwright/core";
import { manualClock } from "@loopwright/core/memory";
import type { ExtensionRoute } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { turnOfLoop } from "../../host/test/turn-of-loop.ts";
import { scriptedAgent, testServer } from "./test-server.ts";

const anne = { Authorization: "Bearer anne" };
const authenticate = (request: Request) => {
  const [, user] = /^Bearer (\w+)$/.exec(request.headers.get("Authorization") ?? "") ?? [];
  return user === undefined ? undefined : { user, scope: user };
};

const echo: ExtensionRoute = {
  method: "POST",
  path: "/api/echo/:word",
  id: "echo",
  body: "json",
  handle: ({ params, query, body, principal, request }) =>
    Response.json({ params, query: Object.fromEntries(query), body, user: principal.user, method: request.method }),
};

/** How long a session is, and a run in it: with a client of the server itself. */
const report: ExtensionRoute = {
  method: "POST",
  path: "/api/reports/:id",
  id: "report",
  summary: "Asks the agent about a session.",
  async handle({ params, url, fetch, signal }) {
    const client = createClient({ url, fetch });
    const before = await client.sessions.get(params["id"] ?? "", { signal });
    const answer = await client.execute("Sum it up.", { sessionId: before.sessionId }).result();
    return Response.json({ messages: before.messages.length, text: answer.text }, { status: 201 });
  },
};

describe("a route of the application", () => {
  it("gets parameters, query, body and principal, and answers with the headers of every response", async () => {
    const { ask } = testServer({ authenticate, routes: [echo] });
    const answer = await ask("/api/echo/a%20b?x=1", { json: { y: [2] }, headers: anne });
    expect(answer.body).toEqual({ params: { word: "a b" }, query: { x: "1" }, body: { y: [2] }, user: "anne", method: "POST" });
    for (const name of ["X-Request-Id", "X-Content-Type-Options", "Cache-Control"]) expect(answer.headers.get(name)).toBeTruthy();
  });

  it("stands behind the checks of every route", async () => {
    let count = 0;
    const counted: ExtensionRoute = { ...echo, handle: () => Response.json({ count: ++count }) };
    const { refused, send, server } = testServer({ authenticate, routes: [counted], limits: { bodyBytes: 64, writesPerMinute: 6 } });
    const json = {};
    expect(await refused("/api/echo/a", { json })).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
    expect(await refused("/api/echo/a", { json, headers: { ...anne, Origin: "https://evil.com" } })).toMatchObject({ status: 403 });
    expect(await refused("/api/echo/a", { json, headers: { ...anne, Host: "evil.com" } })).toMatchObject({ status: 421 });
    expect(await refused("/api/echo/a", { json: "x".repeat(100), headers: anne })).toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
    expect(
      await refused("/api/echo/a", { body: '{"__proto__":{}}', headers: { ...anne, "Content-Type": "application/json" } }),
    ).toMatchObject({ code: "INPUT_INVALID" });
    expect(await refused("/api/echo/a", { body: "{}", headers: { ...anne, "Content-Type": "text/plain" } })).toMatchObject({
      code: "MEDIA_TYPE_UNSUPPORTED",
    });
    expect(await refused("/api/echo/a", { headers: anne })).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED" });
    expect(count).toBe(0);
    for (let n = 0; n < 3; n++) expect((await send("/api/echo/a", { json, headers: anne })).status).toBe(200);
    expect(await refused("/api/echo/a", { json, headers: anne })).toMatchObject({ code: "RATE_LIMITED" });
    server.drain();
    expect(await refused("/api/echo/a", { json, headers: { Authorization: "Bearer ben" } })).toMatchObject({ code: "NOT_READY" });
  });

  it("uses the server in process as its caller: with its sessions, its permissions and no other's", async () => {
    const asked: unknown[] = [];
    const authorize = (_: unknown, action: string, session: string | undefined) =>
      asked.push([action, session]) > 0 && session !== "hidden";
    const { ask, refused, send } = testServer({
      agents: [scriptedAgent([{ text: "Short." }])],
      authenticate,
      authorize,
      routes: [report],
      limits: { requestsPerMinute: 2 },
    });
    await send("/api/sessions", { json: { id: "a" }, headers: anne });
    asked.length = 0;
    expect(await ask("/api/reports/a", { method: "POST", headers: anne })).toMatchObject({
      status: 201,
      body: { messages: 0, text: "Short." },
    });
    expect(asked).toEqual([
      ["extension.report", undefined],
      ["session.read", "a"],
      ["session.send", "a"],
    ]);
    const ben = { Authorization: "Bearer ben" };
    expect(await refused("/api/reports/a", { method: "POST", headers: ben })).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
    expect(await refused("/api/reports/hidden", { method: "POST", headers: ben })).toMatchObject({
      status: 404,
      code: "SESSION_NOT_FOUND",
    });
  });

  it("is not reached in process, so that no request goes round in circles", async () => {
    const loop: ExtensionRoute = {
      method: "GET",
      path: "/api/loop",
      id: "loop",
      handle: ({ url, fetch }) => fetch(new Request(`${url}/api/loop`)),
    };
    const { refused } = testServer({ routes: [loop], basePath: "/agents" });
    expect(await refused("/agents/api/loop")).toMatchObject({ status: 404, code: "ROUTE_NOT_FOUND" });
  });

  it("may stream, and may give back a response whose headers cannot be changed", async () => {
    const routes: readonly ExtensionRoute[] = [
      {
        method: "GET",
        path: "/api/mine/:id",
        id: "mine",
        handle: ({ url, fetch, params }) => fetch(new Request(`${url}/api/sessions/${params["id"]}/events?after=0.0`)),
      },
      { method: "GET", path: "/go", id: "go", handle: () => Response.redirect("https://example.com/", 302) },
      {
        method: "POST",
        path: "/api/size",
        id: "size",
        body: "bytes",
        handle: ({ body }) => Response.json((body as Uint8Array).byteLength),
      },
    ];
    const { send, ask } = testServer({ routes });
    await send("/api/sessions", { json: { id: "a" } });
    const stream = await send("/api/mine/a");
    expect(stream.headers.get("Content-Type")).toBe("text/event-stream");
    const reader = stream.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain("retry:");
    await reader?.cancel();
    const moved = await send("/go");
    expect([moved.status, moved.headers.get("Location"), moved.headers.get("X-Frame-Options")]).toEqual([
      302,
      "https://example.com/",
      "DENY",
    ]);
    expect((await ask("/api/size", { body: new Uint8Array(70_000) })).body).toBe(70_000);
  });

  it("that throws is answered with 500, and its cause is in the log once; an AgentError is its own problem document", async () => {
    const routes: readonly ExtensionRoute[] = [
      {
        method: "GET",
        path: "/throws",
        id: "throws",
        handle: () => {
          throw new RangeError("secret 4711");
        },
      },
      { method: "GET", path: "/nothing", id: "nothing", handle: () => undefined as unknown as Response },
      {
        method: "GET",
        path: "/refuses",
        id: "refuses",
        handle: () => {
          throw new AgentError("SESSION_BUSY", { message: "Not now." });
        },
      },
    ];
    const { refused, logged } = testServer({ routes });
    const problem = await refused("/throws");
    expect(problem).toMatchObject({ status: 500, code: "HOOK_FAILED" });
    expect(JSON.stringify(problem)).not.toContain("4711");
    expect(await refused("/nothing")).toMatchObject({ status: 500, code: "HOOK_FAILED" });
    expect(await refused("/refuses")).toMatchObject({ status: 409, code: "SESSION_BUSY", detail: "Not now." });
    expect(logged.filter(({ level }) => level === "error").map(({ fields }) => fields)).toEqual([
      expect.objectContaining({ route: "throws", cause: "RangeError: secret 4711" }),
      expect.objectContaining({ route: "nothing", cause: "TypeError: The handler returned no `Response`." }),
    ]);
  });

  it("that gives no answer within its time is answered with 504, and its signal is aborted", async () => {
    const clock = manualClock();
    const signals: AbortSignal[] = [];
    const slow: ExtensionRoute = {
      ...{ method: "GET", path: "/slow", id: "slow", timeoutMs: 60_000 },
      handle: ({ signal }) => new Promise(() => void signals.push(signal)),
    };
    const { refused, server } = testServer({ clock, routes: [slow] });
    const answer = refused("/slow");
    await turnOfLoop();
    clock.advance(59_999);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    clock.advance(1);
    expect(await answer).toMatchObject({ status: 504, code: "HOOK_TIMEOUT" });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await server.close();
  });

  it("is in the description of the server", async () => {
    const { ask } = testServer({ routes: [report] });
    const { body } = await ask<{ paths: Record<string, unknown> }>("/openapi.json");
    expect(body.paths).toHaveProperty(
      ["/api/reports/{id}", "post"],
      expect.objectContaining({ operationId: "report", summary: "Asks the agent about a session." }),
    );
    expect(body.paths).toHaveProperty(["/api/sessions", "post"]);
    expect((await testServer().ask<{ paths: object }>("/openapi.json")).body.paths).not.toHaveProperty(["/api/reports/{id}"]);
  });

  it.each([
    ["a path of a built-in route", { path: "/api/sessions" }, "overlaps"],
    ["a path of a built-in route, with a method that it has not", { method: "DELETE", path: "/api/sessions" }, "overlaps"],
    ["a path that a built-in parameter takes", { path: "/api/sessions/mine" }, "overlaps"],
    ["a parameter that takes a built-in path", { path: "/api/:what" }, "overlaps"],
    ["a wildcard", { path: "/api/*" }, "path"],
    ["no slash", { path: "mine" }, "path"],
    ["a slash at its end", { path: "/mine/" }, "path"],
    ["steps up", { path: "/mine/../x" }, "path"],
    ["an unknown method", { method: "TRACE" }, "method"],
    ["no id", { id: "" }, "id"],
    ["the id of a built-in route", { id: "execute" }, "id"],
  ] as const)("is refused at the start with %s", (_, wrong, word) => {
    const route = { method: "GET", path: "/mine", id: "mine", handle: () => new Response(), ...wrong } as ExtensionRoute;
    expect(() => testServer({ routes: [route] })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(word) }),
    );
  });

  it("is refused where it hides another one, and beside it where their methods differ", () => {
    const one: ExtensionRoute = { method: "GET", path: "/mine/:id", id: "one", handle: () => new Response() };
    expect(() => testServer({ routes: [one, { ...one, path: "/mine/x", id: "two" }] })).toThrow("overlaps");
    expect(() => testServer({ routes: [one, { ...one, method: "POST" }] })).toThrow("the id `one`");
    testServer({ routes: [one, { ...one, method: "POST", id: "two" }] });
  });
});
