import { memoryStore, systemClock } from "@loopwright/core/memory";
import { accessPolicy } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { routeTable } from "../../src/http/route-table.ts";
import { pickColour, type Sent, scriptedAgent } from "../test-server.ts";
import { type AccessScene, accessScene, as, tokenOf, turn } from "./access-scene.ts";

/** The callers, and their rights: the session `annes` is Anne's, and Vera may read it. */
const columns = ["anonymous", "foreign", "outsider", "viewer", "owner", "admin", "service", "expired"] as const;
type Column = (typeof columns)[number];

const users = {
  foreign: { scope: "kitchen", roles: ["admin"] },
  outsider: { scope: "garden" },
  viewer: { scope: "garden" },
  owner: { scope: "garden" },
  admin: { scope: "garden", roles: ["admin"] },
  service: { scope: "system", roles: ["service"], memberships: "any", trusted: true },
  expired: { scope: "garden", expiresAt: 1 },
} as const;

interface Row {
  readonly path: string;
  readonly sent?: Sent;
  /** The statuses of foreign, outsider, viewer, owner, admin and service; anonymous and expired callers get 401 everywhere. */
  readonly statuses: readonly [foreign: number, outsider: number, viewer: number, owner: number, admin: number, service: number];
}

const result = { role: "tool_result", toolCallId: "c1", content: "red" };
const row = (path: string, statuses: Row["statuses"], sent?: Sent): Row => ({ path, statuses, ...(sent ? { sent } : {}) });
const hidden = 404;
/** What every principal may do. */
const all = (status: number): Row["statuses"] => [status, status, status, status, status, status];

/** One for each route that asks for a principal, by its id. */
const rows: { readonly [id: string]: Row } = {
  // About a session that a caller may not know of, execute answers that a new one needs a context.
  execute: row("/api/agent/execute", [400, 400, 403, 200, 200, 200], { json: { sessionId: "annes", input: [result] } }),
  readConversation: row("/api/agent/session/annes", [hidden, hidden, 200, 200, 200, 200]),
  createSession: row("/api/sessions", all(201), { json: {} }),
  listSessions: row("/api/sessions", all(200)),
  readSession: row("/api/sessions/annes", [hidden, hidden, 200, 200, 200, 200]),
  changeSession: row("/api/sessions/annes", [hidden, hidden, 403, 200, 200, 200], { method: "PATCH", json: { title: "Ours" } }),
  forkSession: row("/api/sessions/annes/fork", [hidden, hidden, 201, 201, 201, 201], { json: {} }),
  exportSession: row("/api/sessions/annes/export", [hidden, hidden, 200, 200, 200, 200]),
  // From trusted callers alone.
  readLog: row("/api/sessions/annes/log", [hidden, hidden, 403, 403, 403, 200]),
  removeSession: row("/api/sessions/annes", [hidden, hidden, 403, 204, 204, 204], { method: "DELETE" }),
  shareSession: row("/api/sessions/annes/sharing", [hidden, hidden, 403, 200, 200, 200], { method: "PUT", json: {} }),
  holdSession: row("/api/sessions/annes/hold", [hidden, hidden, 403, 403, 200, 200], { method: "PUT", json: {} }),
  releaseHold: row("/api/sessions/annes/hold", [hidden, hidden, 403, 403, 200, 200], { method: "DELETE" }),
  submitMessage: row("/api/sessions/annes/messages", [hidden, hidden, 403, 202, 202, 202], { json: { input: "Hi" } }),
  followSession: row("/api/sessions/annes/events", [hidden, hidden, 200, 200, 200, 200]),
  readRun: row("/api/sessions/annes/runs/RUN", [hidden, hidden, 200, 200, 200, 200]),
  sendResults: row("/api/sessions/annes/tool-results", [hidden, hidden, 403, 202, 202, 202], { json: { results: [result] } }),
  decideCall: row("/api/sessions/annes/approvals/RUN.1.0", [hidden, hidden, 403, hidden, hidden, hidden], { json: { decision: "allow" } }),
  listApprovals: row("/api/approvals", all(200)),
  listApprovalRules: row("/api/approval-rules", all(200)),
  removeApprovalRule: row("/api/approval-rules/r", all(200), { method: "DELETE" }),
  abortRun: row("/api/sessions/annes/abort", [hidden, hidden, 403, 202, 202, 202], { json: {} }),
  listSchedules: row("/api/sessions/annes/schedules", [hidden, hidden, 200, 200, 200, 200]),
  setSchedule: row("/api/sessions/annes/schedules/daily", [hidden, hidden, 403, 200, 200, 200], {
    method: "PUT",
    json: { input: "Roses", everyMs: 60_000 },
  }),
  removeSchedule: row("/api/sessions/annes/schedules/daily", [hidden, hidden, 403, 200, 200, 200], { method: "DELETE" }),
  uploadFile: row("/api/files", all(201), { body: "file", headers: { "Content-Type": "text/plain" } }),
  listFiles: row("/api/files", all(200)),
  readFile: row("/api/files/BLOB", [hidden, 200, 200, 200, 200, 200]),
  // Nothing of it is uploaded by the others, so it is hidden from them in every list as well.
  removeFile: row("/api/files/BLOB", [hidden, hidden, hidden, 204, 204, 204], { method: "DELETE" }),
  notifications: row("/api/notifications?session=annes", [hidden, hidden, 200, 200, 200, 200]),
  // From trusted callers alone.
  publishNotification: row("/api/notifications", [403, 403, 403, 403, 403, 202], { json: { type: "refresh" } }),
  readAccess: row("/api/access", all(200)),
  logIn: row("/api/login", [200, 200, 200, 200, 200, 403], { method: "POST" }),
  logOut: row("/api/logout", all(204), { method: "POST" }),
  createTicket: row("/api/tickets", all(201), { json: { path: "/api/notifications" } }),
  listAgents: row("/api/agents", all(200)),
  listTools: row("/api/tools", all(200)),
  // Numbers of all scopes together, which the admin of one of them may not see.
  metrics: row("/metrics", [403, 403, 403, 403, 403, 200]),
  version: row("/version", [200, 403, 403, 403, 200, 200]),
  openapi: row("/openapi.json", [200, 403, 403, 403, 200, 200]),
};

const headersOf = (column: Column): Record<string, string> =>
  column === "anonymous" ? {} : as(column, column === "service" ? { "X-Scope": "garden" } : {});

const expectedOf = (column: Column, { statuses }: Row): number => {
  const at = (["foreign", "outsider", "viewer", "owner", "admin", "service"] as const).findIndex((one) => one === column);
  return statuses[at] ?? 401;
};

interface Garden extends AccessScene {
  readonly runId: string;
  readonly blob: string;
}

/** A session of the owner that waits for a colour, shared with the viewer. */
async function garden(): Promise<Garden> {
  const store = memoryStore();
  const agent = scriptedAgent([{ calls: [{ name: "pick_colour", args: {}, id: "c1" }] }, { text: "Red." }], { tools: [pickColour] });
  const scene = accessScene(users, { store, agents: [agent], cookies: true, clock: systemClock, ...accessPolicy({ store }) });
  const headers = as("owner");
  const { body: file } = await scene.ask("/api/files", { body: "annes", headers: { ...headers, "Content-Type": "text/plain" } });
  await scene.ask("/api/sessions", { json: { id: "annes", title: "Roses" }, headers });
  const { body: run } = await scene.ask("/api/sessions/annes/messages", { json: { input: "Roses" }, headers });
  await (await scene.send("/api/sessions/annes/events", { headers })).text();
  await scene.ask("/api/sessions/annes/sharing", { method: "PUT", json: { users: { viewer: "viewer" } }, headers });
  return { ...scene, runId: String(run["runId"]), blob: String(file["blob"]) };
}

describe("T01: routes and principals", () => {
  it("have a row here for each route that asks for a principal, so that a new route without one fails", () => {
    const guarded = routeTable.filter(({ access }) => access === "principal").map(({ id }) => id);
    expect(Object.keys(rows).sort()).toEqual(guarded.sort());
  });

  it.each(columns)("answer this caller on every route with the status of the matrix, under the ready policy: %s", async (column) => {
    const statuses: Record<string, number> = {};
    const shared = await garden();
    for (const [id, one] of Object.entries(rows)) {
      const { path, sent = {} } = one;
      // A route that changes the session has one of its own; refusals and reads change nothing.
      const isRead = sent.method === undefined && sent.json === undefined && sent.body === undefined;
      const scene = isRead || expectedOf(column, one) >= 400 ? shared : await garden();
      const named = path.replace("RUN", scene.runId).replace("BLOB", scene.blob);
      const response = await scene.send(named, { ...sent, headers: { ...sent.headers, ...headersOf(column) } });
      statuses[id] = response.status;
      const isRefused = response.status >= 400;
      if (isRefused) {
        const text = await response.text();
        expect(text, id).not.toMatch(/Roses|Ours/);
        expect(text).not.toContain(tokenOf(column));
      } else await response.body?.cancel();
      await turn();
    }
    expect(statuses).toEqual(Object.fromEntries(Object.entries(rows).map(([id, each]) => [id, expectedOf(column, each)])));
  });
});
