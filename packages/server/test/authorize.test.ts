import { manualClock } from "@loopwright/core/memory";
import type { Action, Authorize } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { turnOfLoop } from "../../host/test/turn-of-loop.ts";
import { routeTable } from "../src/http/route-table.ts";
import { pickColour, scriptedAgent, type TestServer, testServer } from "./test-server.ts";

type Asked = readonly [Action, string | undefined];

interface Case {
  readonly path: string;
  readonly method?: string;
  readonly json?: unknown;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly asked: readonly Asked[];
}

const result = [{ role: "tool_result", toolCallId: "c1", content: "red" }];
const text = { "Content-Type": "text/plain" };
const file = `upload-${"0".repeat(64)}`;

/** At least one request for each route that has a principal, by the id of the route. */
const cases: { readonly [id: string]: readonly Case[] } = {
  execute: [
    { path: "/api/agent/execute", json: { sessionId: "a", input: "Hi." }, asked: [["session.send", "a"]] },
    {
      path: "/api/agent/execute",
      json: { sessionId: "a", input: "Hi.", options: { mode: "steer" }, stopsWithStream: true },
      asked: [
        ["session.send", "a"],
        ["session.abort", "a"],
      ],
    },
    { path: "/api/agent/execute", json: { sessionId: "a", input: result }, asked: [["session.answer", "a"]] },
    { path: "/api/agent/execute", json: { context: {}, input: "Hi." }, asked: [["session.create", undefined]] },
    {
      path: "/api/agent/execute",
      json: { sessionId: "new", context: {}, input: "Hi." },
      asked: [
        ["session.send", "new"],
        ["session.create", "new"],
      ],
    },
  ],
  readConversation: [{ path: "/api/agent/session/a", asked: [["session.read", "a"]] }],
  createSession: [
    { path: "/api/sessions", json: { id: "b" }, asked: [["session.create", "b"]] },
    { path: "/api/sessions", json: {}, asked: [["session.create", undefined]] },
  ],
  listSessions: [{ path: "/api/sessions", asked: [["session.list", undefined]] }],
  readSession: [{ path: "/api/sessions/a", asked: [["session.read", "a"]] }],
  changeSession: [{ path: "/api/sessions/a", method: "PATCH", json: { title: "x" }, asked: [["session.change", "a"]] }],
  removeSession: [{ path: "/api/sessions/gone", method: "DELETE", asked: [["session.remove", "gone"]] }],
  shareSession: [{ path: "/api/sessions/a/sharing", method: "PUT", json: { scope: "viewer" }, asked: [["session.share", "a"]] }],
  submitMessage: [
    { path: "/api/sessions/a/messages", json: { message: "Hi." }, asked: [["session.send", "a"]] },
    { path: "/api/sessions/a/messages", json: { input: result }, asked: [["session.answer", "a"]] },
  ],
  followSession: [{ path: "/api/sessions/a/events?after=9.0", asked: [["session.follow", "a"]] }],
  readRun: [{ path: "/api/sessions/a/runs/r", asked: [["session.read", "a"]] }],
  sendResults: [{ path: "/api/sessions/a/tool-results", json: { results: result }, asked: [["session.answer", "a"]] }],
  decideCall: [{ path: "/api/sessions/a/approvals/r.1.0", json: { decision: "allow" }, asked: [["session.decide", "a"]] }],
  listApprovals: [{ path: "/api/approvals", asked: [["approval.list", undefined]] }],
  listApprovalRules: [{ path: "/api/approval-rules", asked: [["approval.rules", undefined]] }],
  removeApprovalRule: [{ path: "/api/approval-rules/r", method: "DELETE", asked: [["approval.rules", undefined]] }],
  publishNotification: [{ path: "/api/notifications", json: { type: "refresh" }, asked: [["notifications.publish", undefined]] }],
  abortRun: [{ path: "/api/sessions/a/abort", json: {}, asked: [["session.abort", "a"]] }],
  exportSession: [{ path: "/api/sessions/a/export", asked: [["session.read", "a"]] }],
  readLog: [{ path: "/api/sessions/a/log", asked: [["session.log", "a"]] }],
  forkSession: [
    {
      path: "/api/sessions/a/fork",
      method: "POST",
      json: { id: "fork-of-a" },
      asked: [
        ["session.read", "a"],
        ["session.create", "fork-of-a"],
      ],
    },
  ],
  holdSession: [{ path: "/api/sessions/a/hold", method: "PUT", json: { reason: "case 7" }, asked: [["session.hold", "a"]] }],
  releaseHold: [{ path: "/api/sessions/a/hold", method: "DELETE", asked: [["session.hold", "a"]] }],
  listSchedules: [{ path: "/api/sessions/a/schedules", asked: [["session.read", "a"]] }],
  setSchedule: [
    { path: "/api/sessions/a/schedules/s", method: "PUT", json: { input: "Hi.", everyMs: 60_000 }, asked: [["session.schedule", "a"]] },
  ],
  removeSchedule: [{ path: "/api/sessions/a/schedules/s", method: "DELETE", asked: [["session.schedule", "a"]] }],
  readAccess: [{ path: "/api/access", asked: [["access.read", undefined]] }],
  logIn: [{ path: "/api/login", method: "POST", asked: [["access.login", undefined]] }],
  logOut: [{ path: "/api/logout", method: "POST", asked: [["access.login", undefined]] }],
  createTicket: [{ path: "/api/tickets", json: { path: "/api/notifications" }, asked: [["ticket.create", undefined]] }],
  uploadFile: [{ path: "/api/files", body: "text", headers: text, asked: [["file.upload", undefined]] }],
  listFiles: [{ path: "/api/files", asked: [["file.list", undefined]] }],
  readFile: [{ path: `/api/files/${file}`, asked: [["file.read", undefined]] }],
  removeFile: [{ path: `/api/files/${file}`, method: "DELETE", asked: [["file.remove", undefined]] }],
  notifications: [
    {
      path: "/api/notifications?session=none&session=other@3.0",
      asked: [
        ["notifications.follow", undefined],
        ["session.follow", "none"],
        ["session.follow", "other"],
      ],
    },
  ],
  listAgents: [{ path: "/api/agents", asked: [["agent.list", undefined]] }],
  listTools: [{ path: "/api/tools", asked: [["agent.list", undefined]] }],
  metrics: [{ path: "/metrics", asked: [["server.metrics", undefined]] }],
  version: [{ path: "/version", asked: [["server.inspect", undefined]] }],
  openapi: [{ path: "/openapi.json", asked: [["server.inspect", undefined]] }],
};
const all = Object.entries(cases).flatMap(([id, list]) => list.map((one, at) => [`${id} ${at + 1}`, one] as const));

async function serverThat(authorize: Authorize, more: Parameters<typeof testServer>[0] = {}): Promise<TestServer> {
  let isOpen = true;
  const agents = [scriptedAgent([{ calls: [{ name: "pick_colour", args: {}, id: "c1" }] }, { text: "Red." }], { tools: [pickColour] })];
  const test = testServer({ agents, ...more, authorize: (...asked) => isOpen || authorize(...asked) });
  await (await test.send("/api/agent/execute", { json: { sessionId: "a", context: {}, input: "Pick." } })).text();
  isOpen = false;
  return test;
}

describe("`authorize`", () => {
  it("has an action for every route but the public ones, and each is tested here", () => {
    const guarded = routeTable.filter(({ access }) => access === "principal");
    expect(guarded.filter(({ action }) => action === undefined)).toEqual([]);
    expect(Object.keys(cases).sort()).toEqual(guarded.map(({ id }) => id).sort());
  });

  it.each(all)("is asked before anything else of the route: %s", async (_, { asked, path, ...sent }) => {
    const seen: unknown[] = [];
    const { send } = await serverThat((principal, action, session) => {
      seen.push([action, session]);
      return principal.user === "local";
    });
    await (await send(path, sent)).body?.cancel();
    expect(seen).toEqual(asked);
  });

  it.each(all)("refuses with 404 where the caller may not know of the session, else with 403: %s", async (_, { asked, path, ...sent }) => {
    const [action, session] = asked[0] ?? [];
    // Execute answers about a session that does not exist that it needs a context.
    const isContextAsked = path === "/api/agent/execute" && !Object.hasOwn(sent.json as object, "context");
    const hidden = await serverThat(() => false);
    const isAboutOne = session !== undefined && action !== "session.create";
    expect(await hidden.refused(path, sent)).toMatchObject(
      isAboutOne
        ? isContextAsked
          ? { status: 400, code: "INPUT_INVALID" }
          : { status: 404, code: "SESSION_NOT_FOUND" }
        : { status: 403, code: "FORBIDDEN", detail: expect.stringContaining(`\`${action}\``) },
    );
    const reader = await serverThat((_principal, what) => what === "session.read" && action !== "session.read");
    expect(await reader.refused(path, sent)).toMatchObject(
      action === "session.read" ? { status: 404 } : { status: 403, detail: expect.stringContaining(`\`${action}\``) },
    );
    for (const { logged } of [hidden, reader]) expect(logged.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("answers about a hidden session word for word as about one that does not exist", async () => {
    const { refused } = await serverThat((_principal, _action, session) => session !== "a");
    const notified = async (path: string) => {
      const { headers: _, ...problem } = await refused(path);
      return JSON.stringify(problem).replaceAll("`a`", "`none`");
    };
    for (const end of ["", "/runs/r", "/events"])
      expect(await notified(`/api/sessions/a${end}`)).toBe(await notified(`/api/sessions/none${end}`));
    expect(await notified("/api/agent/session/a")).toBe(await notified("/api/agent/session/none"));
    const executed = async (sessionId: string, headers = {}): Promise<string> => {
      const { headers: _, ...problem } = await refused("/api/agent/execute", { json: { sessionId, input: "Hi." }, headers });
      return JSON.stringify(problem).replaceAll("`a`", "`none`");
    };
    expect(await executed("a")).toBe(await executed("none"));
    const resumed = { "Last-Event-ID": "1.0" };
    expect(await executed("a", resumed)).toBe(await executed("none", resumed));
  });

  it("lets nothing happen that it refuses", async () => {
    const { send, ask, server } = await serverThat((_principal, action) => action === "session.read");
    const before = (await ask("/api/sessions/a")).body;
    await send("/api/sessions/a/messages", { json: { message: "Hi." } });
    await send("/api/sessions/a/tool-results", { json: { results: result } });
    await send("/api/sessions/a/abort", { json: {} });
    await send("/api/sessions/a", { method: "DELETE" });
    await send("/api/agent/execute", { json: { sessionId: "new", context: {}, input: "Hi." } });
    expect((await ask("/api/sessions/a")).body).toEqual(before);
    expect((await send("/api/sessions/new")).status).toBe(404);
    await server.close();
  });

  it("permits with `true` alone, however it comes", async () => {
    for (const [verdict, status] of [
      [Promise.resolve(true), 200],
      [1, 404],
      ["yes", 404],
      [undefined, 404],
      [Promise.resolve({}), 404],
    ] as const) {
      const { send } = await serverThat((): never => verdict as never);
      expect((await send("/api/sessions/a")).status).toBe(status);
    }
  });

  it.each([
    [
      "throws",
      () => {
        throw new TypeError("no table `grants`");
      },
    ],
    ["rejects", () => Promise.reject(new TypeError("no table `grants`"))],
  ] as const)("that %s refuses, and its cause is in the log once and in no answer", async (_, authorize) => {
    const { refused, logged } = await serverThat(authorize as Authorize);
    const problem = await refused("/api/sessions/a");
    expect(problem).toMatchObject({ status: 500, code: "HOOK_FAILED", retryable: false });
    expect(JSON.stringify(problem)).not.toContain("grants");
    expect(logged.filter(({ level }) => level === "error")).toEqual([
      {
        level: "error",
        message: expect.stringContaining("`authorize` threw"),
        fields: expect.objectContaining({ action: "session.read", session: "a", user: "local", cause: "TypeError: no table `grants`" }),
      },
    ]);
  });

  it("that gives no verdict within `limits.authenticateMs` refuses, which the log states", async () => {
    const clock = manualClock();
    const { refused, logged, server } = await serverThat(() => new Promise(() => {}), { clock, limits: { authenticateMs: 700 } });
    const answer = refused("/api/sessions/a");
    await turnOfLoop();
    clock.advance(699);
    expect(logged.filter(({ level }) => level === "error")).toEqual([]);
    clock.advance(1);
    expect(await answer).toMatchObject({ status: 503, code: "NOT_READY", retryable: true });
    expect(logged).toContainEqual(
      expect.objectContaining({
        level: "error",
        message: expect.stringContaining("no verdict in time"),
        fields: expect.objectContaining({ action: "session.read", timeoutMs: 700 }),
      }),
    );
    await server.close();
  });
});
