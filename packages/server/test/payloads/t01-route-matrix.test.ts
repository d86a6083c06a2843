import type { Problem } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { routeTable } from "../../src/http/route-table.ts";
import type { Sent } from "../test-server.ts";
import { annesToken, bearer, bensToken, type PayloadScene, payloadScene, people, strayToken } from "./payload-scene.ts";
import { rawExchange, requestText } from "./raw-exchange.ts";

/** What is asked of a route by a user of another scope, and the status of the answer. */
interface Entry {
  readonly path: string;
  readonly sent?: Sent;
  /** Ben's, a caller that asks for what is Anne's. */
  readonly foreign: number;
}

const result = { role: "tool_result", toolCallId: "c1", content: "x" };
const session404 = (path: string, sent?: Sent): Entry => ({ path, foreign: 404, ...(sent ? { sent } : {}) });

/** One for each route, by its id. A route without one fails the first test. */
const entries: { readonly [id: string]: Entry } = {
  // Without a context an unknown session cannot begin; Anne's is as unknown to Ben as any other.
  execute: { path: "/api/agent/execute", sent: { json: { sessionId: "annes", input: "Hi" } }, foreign: 400 },
  readConversation: session404("/api/agent/session/annes"),
  createSession: { path: "/api/sessions", sent: { json: {} }, foreign: 201 },
  listSessions: { path: "/api/sessions", foreign: 200 },
  readSession: session404("/api/sessions/annes"),
  changeSession: session404("/api/sessions/annes", { method: "PATCH", json: { title: "Mine" } }),
  removeSession: session404("/api/sessions/annes", { method: "DELETE" }),
  shareSession: session404("/api/sessions/annes/sharing", { method: "PUT", json: { users: { ben: "owner" } } }),
  submitMessage: session404("/api/sessions/annes/messages", { json: { input: "Hi" } }),
  followSession: session404("/api/sessions/annes/events"),
  readRun: session404("/api/sessions/annes/runs/RUN"),
  sendResults: session404("/api/sessions/annes/tool-results", { json: { results: [result] } }),
  decideCall: session404("/api/sessions/annes/approvals/RUN.1.0", { json: { decision: "allow" } }),
  listApprovals: { path: "/api/approvals", foreign: 200 },
  listApprovalRules: { path: "/api/approval-rules", foreign: 200 },
  removeApprovalRule: { path: "/api/approval-rules/r", sent: { method: "DELETE" }, foreign: 200 },
  publishNotification: { path: "/api/notifications", sent: { json: { type: "refresh" } }, foreign: 403 },
  abortRun: session404("/api/sessions/annes/abort", { method: "POST" }),
  exportSession: session404("/api/sessions/annes/export"),
  readLog: session404("/api/sessions/annes/log"),
  forkSession: session404("/api/sessions/annes/fork", { method: "POST", json: {} }),
  holdSession: session404("/api/sessions/annes/hold", { method: "PUT", json: {} }),
  releaseHold: session404("/api/sessions/annes/hold", { method: "DELETE" }),
  listSchedules: session404("/api/sessions/annes/schedules"),
  setSchedule: session404("/api/sessions/annes/schedules/daily", { method: "PUT", json: { input: "Roses", everyMs: 60_000 } }),
  removeSchedule: session404("/api/sessions/annes/schedules/daily", { method: "DELETE" }),
  uploadFile: { path: "/api/files", sent: { body: "file", headers: { "Content-Type": "text/plain" } }, foreign: 201 },
  listFiles: { path: "/api/files", foreign: 200 },
  readFile: session404("/api/files/BLOB"),
  removeFile: session404("/api/files/BLOB", { method: "DELETE" }),
  notifications: session404("/api/notifications?session=annes"),
  readAccess: { path: "/api/access", foreign: 200 },
  logIn: { path: "/api/login", sent: { method: "POST" }, foreign: 404 },
  logOut: { path: "/api/logout", sent: { method: "POST" }, foreign: 404 },
  createTicket: { path: "/api/tickets", sent: { json: { path: "/api/sessions/annes/events" } }, foreign: 201 },
  listAgents: { path: "/api/agents", foreign: 200 },
  listTools: { path: "/api/tools", foreign: 200 },
  health: { path: "/healthz", foreign: 200 },
  ready: { path: "/readyz", foreign: 200 },
  metrics: { path: "/metrics", foreign: 200 },
  version: { path: "/version", foreign: 200 },
  openapi: { path: "/openapi.json", foreign: 200 },
};

/** The caller, and the answer of a route that needs a principal. */
const otherUsers: readonly (readonly [who: string, headers: { readonly [name: string]: string }, status: number, code: string])[] = [
  ["nobody", {}, 401, "UNAUTHENTICATED"],
  ["somebody with a wrong token", bearer("wrong-0123456789abcdef"), 401, "UNAUTHENTICATED"],
  ["somebody with the beginning of a token", bearer(annesToken.slice(0, -1)), 401, "UNAUTHENTICATED"],
  ["somebody with two tokens in one", bearer(`${annesToken} ${bensToken}`), 401, "UNAUTHENTICATED"],
  [
    "somebody who says that he is here",
    { "X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1", Forwarded: "for=127.0.0.1" },
    401,
    "UNAUTHENTICATED",
  ],
  ["a principal without a scope", bearer(strayToken), 403, "FORBIDDEN"],
];

interface Annes extends PayloadScene {
  readonly runId: string;
  readonly blob: string;
}

/** A server on which Anne has a session, a run and a file. */
async function annes(): Promise<Annes> {
  const scene = await payloadScene({ authenticate: people });
  const headers = bearer(annesToken);
  const { body: file } = await scene.ask("/api/files", { body: "annes", headers: { ...headers, "Content-Type": "text/plain" } });
  await scene.ask("/api/sessions", { json: { id: "annes", title: "Roses" }, headers });
  const { body: run } = await scene.ask("/api/sessions/annes/messages", { json: { input: "Roses" }, headers });
  await (await scene.send("/api/sessions/annes/events", { headers })).text();
  return { ...scene, runId: String(run["runId"]), blob: String(file["blob"]) };
}

function asked({ runId, blob }: Annes, { path, sent = {} }: Entry, headers: { readonly [name: string]: string }): readonly [string, Sent] {
  return [path.replace("RUN", runId).replace("BLOB", blob), { ...sent, headers: { ...sent.headers, ...headers } }];
}

describe("T01: the table of routes", () => {
  it("has an entry here for each of its routes, and nothing else has", () => {
    expect(Object.keys(entries).sort()).toEqual(routeTable.map(({ id }) => id).sort());
    for (const { id, method, path } of routeTable) {
      const { sent = {}, path: asked } = entries[id] ?? { path: "" };
      const isBody = sent.json !== undefined || sent.body !== undefined;
      expect([id, sent.method ?? (isBody ? "POST" : "GET")]).toEqual([id, method]);
      expect(asked.replace(/\?.*/, "")).toMatch(new RegExp(`^${path.replace(".", "\\.").replace(/:\w+/g, "[^/]+")}$`));
    }
  });

  it("leaves two routes open to everybody", () => {
    expect(routeTable.filter(({ access }) => access === "public").map(({ id }) => id)).toEqual(["health", "ready"]);
  });
});

describe("T01: every route", () => {
  it.each(otherUsers)("T03: refuses %s, but for the two that are open, and nothing is kept", async (_, headers, status, code) => {
    const scene = await annes();
    const before = scene.writes.length;
    const answers: Record<string, readonly unknown[]> = {};
    for (const { id } of routeTable) {
      const response = await scene.send(...asked(scene, entries[id] as Entry, headers));
      const isProblem = response.headers.get("Content-Type") === "application/problem+json";
      answers[id] = isProblem ? [response.status, ((await response.json()) as Problem).code] : [response.status];
    }
    const expected = routeTable.map(({ id, access }) => [id, access === "public" ? [200] : [status, code]]);
    expect(answers).toEqual(Object.fromEntries(expected));
    expect(scene.writes).toHaveLength(before);
  });

  it("answers a caller of another scope as if the session did not exist, and shows nothing of it", async () => {
    const scene = await annes();
    const before = scene.writes.length;
    const statuses: Record<string, number> = {};
    for (const { id } of routeTable) {
      const entry = entries[id] as Entry;
      const response = await scene.send(...asked(scene, entry, bearer(bensToken)));
      statuses[id] = response.status;
      const text = await response.text();
      expect(text).not.toContain("Roses");
      if (entry.foreign === 404) expect(text).not.toContain("garden");
    }
    expect(statuses).toEqual(Object.fromEntries(Object.entries(entries).map(([id, { foreign }]) => [id, foreign])));
    expect(scene.writes.slice(before).filter((write) => !write.startsWith("kitchen/"))).toEqual([]);
    const { body } = await scene.ask("/api/sessions/annes", { headers: bearer(annesToken) });
    expect(body).toMatchObject({ title: "Roses", status: "idle" });
  });

  it("over a port refuses an unknown caller before it reads the body", async () => {
    const { port, writes } = await payloadScene({ authenticate: people });
    for (const { method, path, access } of routeTable) {
      if (access === "public") continue;
      const line = `${method} ${path.replace(/:\w+/g, "a")}`;
      const answer = await rawExchange({ port, bytes: requestText(line, { "Content-Length": "1000" }) });
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
      expect(answer).toMatch(/^www-authenticate: Bearer$/im);
    }
    expect(writes).toEqual([]);
  });
});
