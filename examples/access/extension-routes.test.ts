import { globSync, readFileSync } from "node:fs";
import { type Agent, createAgent } from "@loopwright/core";
import { manualClock, memoryLedger, memorySecrets, memoryStore, randomIds, scripted } from "@loopwright/core/memory";
import { embedOptions } from "@loopwright/embed";
import { createRuntime } from "@loopwright/host";
import { a2aRoutes } from "@loopwright/protocol-a2a";
import { agUiRoutes } from "@loopwright/protocol-ag-ui";
import { aiSdkRoutes } from "@loopwright/protocol-ai-sdk";
import { mcpRoutes } from "@loopwright/protocol-mcp";
import { openaiRoutes } from "@loopwright/protocol-openai";
import { accessPolicy, bearerTokens, createServer, type ExtensionRoute, type Principal } from "@loopwright/server";
import { cacheRoute, latencyRoute, memoryEvents, memoryUsage, quotasRoute, usageRoute } from "@loopwright/telemetry";
import { artifactRoutes, craftTool } from "@loopwright/tools-craft";
import { createKnowledge, knowledgeRoutes, memoryKnowledgeStore } from "@loopwright/tools-knowledge";
import {
  memoryRecords,
  providerRoutes,
  providerSettings,
  retentionRoutes,
  scopeRetention,
  settingsRoutes,
  userSettings,
} from "@loopwright/user-settings";
import { describe, expect, it } from "vitest";

/** The callers, and their rights: the session `annes` and the provider are Anne's; `viewer` may read the session; `reader` has the role of viewers. */
const columns = ["anonymous", "foreign", "outsider", "viewer", "reader", "owner", "admin", "service", "expired"] as const;
type Column = (typeof columns)[number];

const users: { readonly [column in Exclude<Column, "anonymous">]: Omit<Principal, "user"> } = {
  foreign: { scope: "kitchen", roles: ["admin"] },
  outsider: { scope: "garden" },
  viewer: { scope: "garden" },
  reader: { scope: "garden", roles: ["viewer"] },
  owner: { scope: "garden" },
  admin: { scope: "garden", roles: ["admin"] },
  service: { scope: "system", roles: ["service"], memberships: "any", trusted: true },
  expired: { scope: "garden", expiresAt: 1 },
};
const tokenOf = (user: string): string => `${user}-0123456789abcdef`;

interface Row {
  readonly path: string;
  /** The statuses of foreign, outsider, viewer, reader, owner, admin and service; anonymous and expired callers get 401 everywhere. */
  readonly statuses: readonly number[];
  readonly method?: "POST" | "PATCH" | "DELETE";
  readonly json?: unknown;
  /** A file as the body. */
  readonly text?: string;
  readonly accept?: string;
}

/** What every principal may do, but for those that only read what they see. */
const all = (status: number): readonly number[] => [status, status, status, 403, status, status, status];
/** What comes from a session: for those that may read it. */
const ofSession = [404, 404, 200, 403, 200, 200, 200] as const;
/** What belongs to one user. For all others it does not exist, whatever their roles. */
const ofOwner = (status: number): readonly number[] => [404, 404, 404, 403, status, 404, 404];

/** For those that administer their scope. */
const operators = (status: number): readonly number[] => [status, 403, 403, 403, 403, status, status];
const isOperator = ({ roles = [], trusted }: Pick<Principal, "roles" | "trusted">): boolean => trusted === true || roles.includes("admin");

const sentToA2a = {
  ...{ jsonrpc: "2.0", id: 1, method: "message/send" },
  params: { message: { kind: "message", messageId: "m1", role: "user", parts: [{ kind: "text", text: "Hello" }] } },
};

/** One for each extension route of the packages, by its id. */
const rows: { readonly [id: string]: Row } = {
  modules: { path: "/api/modules", statuses: all(200) },
  "session-cache": { path: "/api/sessions/annes/cache", statuses: ofSession },
  // Latencies are of no user: for trusted callers.
  "ai-latency": { path: "/dev/ai-latency", statuses: [403, 403, 403, 403, 403, 403, 200] },
  usage: { path: "/api/usage?by=user,scope", statuses: all(200) },
  quotas: { path: "/api/quotas", statuses: all(200) },
  listArtifacts: { path: "/api/artifacts/annes", statuses: ofSession },
  readArtifact: { path: "/api/artifacts/annes/artifact-1", statuses: ofSession },
  listKnowledge: { path: "/api/knowledge", statuses: all(200) },
  addKnowledge: { path: "/api/knowledge?id=roses", statuses: operators(201), method: "POST", text: "They need sun." },
  removeKnowledge: { path: "/api/knowledge?id=roses", statuses: operators(200), method: "DELETE" },
  readPlan: { path: "/api/settings/plan?user=anne", statuses: operators(200) },
  setPlan: { path: "/api/settings/plan", statuses: operators(200), method: "POST", json: { user: "anne", plan: "pro" } },
  readRetention: { path: "/api/settings/retention", statuses: all(200) },
  changeRetention: { path: "/api/settings/retention", statuses: operators(200), method: "PATCH", json: { keepMs: 86_400_000 } },
  readSettings: { path: "/api/settings", statuses: all(200) },
  changeSettings: { path: "/api/settings", statuses: all(200), method: "PATCH", json: { memory: { enabled: true } } },
  listProviders: { path: "/api/ai/providers", statuses: all(200) },
  addProvider: {
    path: "/api/ai/providers",
    statuses: all(201),
    method: "POST",
    json: { providerId: "offline", model: "m", displayName: "Mine", key: "sk-0123456789abcdef" },
  },
  readProvider: { path: "/api/ai/providers/PROVIDER", statuses: ofOwner(200) },
  changeProvider: { path: "/api/ai/providers/PROVIDER", statuses: ofOwner(200), method: "PATCH", json: { displayName: "Ours" } },
  removeProvider: { path: "/api/ai/providers/PROVIDER", statuses: ofOwner(204), method: "DELETE" },
  "openai-models": { path: "/v1/models", statuses: all(200) },
  "openai-model": { path: "/v1/models/helper", statuses: all(200) },
  // A session of the caller's own.
  "openai-chat": {
    path: "/v1/chat/completions",
    statuses: all(200),
    method: "POST",
    json: { model: "helper", messages: [{ role: "user", content: "Hello" }] },
  },
  "openai-response": { path: "/v1/responses", statuses: all(200), method: "POST", json: { model: "helper", input: "Hello" } },
  // There is no such response.
  "openai-response-read": { path: "/v1/responses/resp_none", statuses: all(404) },
  "openai-response-cancel": { path: "/v1/responses/resp_none/cancel", statuses: all(404), method: "POST" },
  // A chat of the caller's own, whatever its name.
  "ai-sdk-chat": {
    path: "/api/chat",
    statuses: all(200),
    method: "POST",
    json: { id: "roses", agent: "helper", messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "Hello" }] }] },
  },
  "a2a-card": { path: "/.well-known/agent-card.json", statuses: all(200) },
  "a2a-agent-card": { path: "/a2a/helper/agent-card.json", statuses: all(200) },
  a2a: { path: "/a2a", statuses: all(200), method: "POST", json: sentToA2a },
  "a2a-agent": { path: "/a2a/helper", statuses: all(200), method: "POST", json: sentToA2a },
  "ag-ui-run": {
    path: "/ag-ui/helper",
    statuses: all(200),
    method: "POST",
    json: { threadId: "roses", runId: "r1", messages: [{ id: "m1", role: "user", content: "Hello" }] },
  },
  "ag-ui-messages": { path: "/ag-ui/helper/annes", statuses: all(200) },
  "ag-ui-stop": { path: "/ag-ui/helper/annes/stop", statuses: all(200), method: "POST" },
  mcp: {
    path: "/mcp",
    statuses: all(200),
    method: "POST",
    json: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    accept: "application/json, text/event-stream",
  },
  "ai-sdk-messages": { path: "/api/chat/annes", statuses: all(200) },
  "ai-sdk-resume": { path: "/api/chat/annes/stream", statuses: all(204) },
  "ai-sdk-stop": { path: "/api/chat/annes/stop", statuses: all(200), method: "POST" },
  testProvider: { path: "/api/ai/providers/PROVIDER/test", statuses: ofOwner(200), method: "POST" },
};

const expectedOf = (column: Column, { statuses }: Row): number =>
  statuses[(["foreign", "outsider", "viewer", "reader", "owner", "admin", "service"] as readonly Column[]).indexOf(column)] ?? 401;

/** The ids of the extension routes that the source of packages and apps defines. The server's own routes have a matrix beside it. */
function definedIds(): readonly string[] {
  const root = new URL("../../", import.meta.url).pathname;
  const files = globSync(["packages/*/src/**/*.ts", "apps/*/src/**/*.ts"], { cwd: root }).filter(
    (file) => !/^packages\/(server|client|provider-kit)\/|\.test\.ts$/.test(file),
  );
  const route = /\bmethod: "(?:GET|POST|PATCH|DELETE)",[^;]{0,120}?\bpath\b[^;]{0,120}?\bid: "([\w-]+)"/g;
  return files.flatMap((file) => [...readFileSync(`${root}${file}`, "utf8").matchAll(route)].map(([, id = ""]) => id)).sort();
}

async function garden(): Promise<{ send(column: Column, row: Row): Promise<Response>; readonly routes: readonly ExtensionRoute[] }> {
  const store = memoryStore();
  const clock = manualClock();
  const events = memoryEvents();
  const providers = providerSettings({
    mode: "AllowUserProviders",
    records: memoryRecords(),
    secrets: memorySecrets(),
    builders: { offline: { title: "Offline", baseUrl: "refused", create: () => scripted(() => ({ text: "ok" })) } },
    ids: randomIds,
    clock,
  });
  const artifact = { calls: [{ name: "craft_tool", args: { title: "Poem", content: "Roses are red" } }] };
  const agent: Agent = createAgent({
    name: "helper",
    provider: scripted([artifact, { text: "Done." }, { text: "Hello." }]),
    tools: [craftTool()],
  });
  const { agents, ...embedding } = embedOptions({ agents: [agent], modules: { orders: { prompt: "Orders." } } });
  const routes: readonly ExtensionRoute[] = [
    ...embedding.routes,
    ...artifactRoutes,
    ...knowledgeRoutes(createKnowledge({ store: memoryKnowledgeStore() }), { mayChange: isOperator }),
    ...settingsRoutes(userSettings({ records: memoryRecords() }), { maySetPlan: isOperator }),
    ...retentionRoutes(scopeRetention({ records: memoryRecords() }), { mayChange: isOperator }),
    ...providerRoutes(providers),
    ...[cacheRoute({ events }), latencyRoute({ events, clock }), usageRoute({ usage: memoryUsage() })],
    ...[...openaiRoutes(), ...aiSdkRoutes(), ...agUiRoutes(), ...a2aRoutes(), ...mcpRoutes()],
    quotasRoute({ ledger: memoryLedger({ limits: () => [] }), limits: () => [] }),
  ];
  const server = createServer({
    runtime: createRuntime({ agents, store }),
    ...embedding,
    routes,
    authenticate: bearerTokens(Object.fromEntries(Object.entries(users).map(([user, rest]) => [tokenOf(user), { user, ...rest }]))),
    ...accessPolicy({ store }),
  });
  const ask = (path: string, user: Column, { method, json, text, accept }: Omit<Row, "path" | "statuses">): Promise<Response> => {
    const headers = {
      ...(accept === undefined ? {} : { Accept: accept }),
      ...(user === "anonymous" ? {} : { Authorization: `Bearer ${tokenOf(user)}` }),
      ...(user === "service" ? { "X-Scope": "garden" } : {}),
      ...(json === undefined ? {} : { "Content-Type": "application/json" }),
      ...(text === undefined ? {} : { "Content-Type": "text/plain" }),
    };
    const sent = text ?? (json === undefined ? undefined : JSON.stringify(json));
    const body = sent === undefined ? {} : { body: sent };
    return server.fetch(new Request(`http://localhost${path}`, { method: method ?? "GET", headers, ...body }));
  };
  await ask("/api/sessions", "owner", { method: "POST", json: { id: "annes", title: "Roses" } });
  await ask("/api/sessions/annes/messages", "owner", { method: "POST", json: { input: "A poem" } });
  await (await ask("/api/sessions/annes/events", "owner", {})).text();
  // A viewer by sharing; one by role needs the sharing too.
  const sharing = { users: { viewer: "viewer" } };
  await server.fetch(
    new Request("http://localhost/api/sessions/annes/sharing", {
      method: "PUT",
      headers: { Authorization: `Bearer ${tokenOf("owner")}`, "Content-Type": "application/json" },
      body: JSON.stringify(sharing),
    }),
  );
  const added = (await (await ask("/api/ai/providers", "owner", rows["addProvider"] ?? {})).json()) as { readonly instanceId: string };
  return { routes, send: (column, row) => ask(row.path.replace("PROVIDER", added.instanceId), column, row) };
}

describe("T01: extension routes of the packages and principals", () => {
  it("have a row here for each route that the source defines and a server has, so that a new route without one fails", async () => {
    const { routes } = await garden();
    const named = Object.keys(rows).sort();
    expect(definedIds()).toEqual(named);
    expect(routes.map(({ id }) => id).sort()).toEqual(named);
  });

  it.each(columns)("answer this caller on every route with the status of the matrix, under the ready policy: %s", async (column) => {
    const statuses: Record<string, number> = {};
    const shared = await garden();
    for (const [id, row] of Object.entries(rows)) {
      const changes = row.method !== undefined && expectedOf(column, row) < 400;
      const response = await (changes ? await garden() : shared).send(column, row);
      const text = await response.text();
      statuses[id] = response.status;
      expect(text, id).not.toMatch(/sk-0123456789abcdef|-0123456789abcdef/);
      if (response.status >= 400) expect(text, id).not.toMatch(/Roses|Poem|Mine/);
    }
    expect(statuses).toEqual(Object.fromEntries(Object.entries(rows).map(([id, row]) => [id, expectedOf(column, row)])));
  });
});
