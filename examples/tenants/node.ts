// One of several nodes of a product with tenants: users of two teams, keys of their own, approvals, client tools, numbers for operators.
import { createApprovals } from "@loopwright/approvals";
import { redisBackend } from "@loopwright/backend-redis";
import { createAgent, defineTool, type Hooks, type Observer, type Tool } from "@loopwright/core";
import { randomIds, systemClock } from "@loopwright/core/memory";
import type { SecretStore } from "@loopwright/core/ports";
import { embedOptions } from "@loopwright/embed";
import { createHost, createRuntime, type Host } from "@loopwright/host";
import { openai } from "@loopwright/providers-openai";
import { type AgentServer, type Authenticate, accessPolicy, createServer, type ExtensionRoute } from "@loopwright/server";
import { jsonLogger, latencyEvents, turnObserver, usageObserver, usageRoute } from "@loopwright/telemetry";
import { type AuditLog, auditedAuthorize, auditLog, auditObserver } from "@loopwright/telemetry/audit";
import { prometheusMetrics } from "@loopwright/telemetry/prometheus";
import type { TelemetryFile } from "@loopwright/telemetry/sqlite";
import { providerRoutes, providerSettings, settingsRoutes, type UserRecords, userSettings } from "@loopwright/user-settings";

export interface NodeOptions {
  readonly redisUrl: string;
  readonly vendorUrl: string;
  readonly platformKey: string;
  readonly authenticate: Authenticate;
  /** Of the product, beside those below. */
  readonly tools: readonly Tool[];
  readonly hooks: readonly Hooks[];
  readonly observers: readonly Observer[];
  readonly routes: readonly ExtensionRoute[];
  /** What all nodes share beside Redis. */
  readonly records: UserRecords;
  readonly secrets: SecretStore;
  readonly telemetry: TelemetryFile;
  /** Gets each line of the log. */
  readonly write: (line: string) => void;
}

export interface ProductNode {
  readonly server: AgentServer;
  readonly host: Host;
  readonly audit: AuditLog;
  close(): Promise<void>;
}

const about = { type: "object", properties: { about: { type: "string" } }, required: ["about"] } as const;

/** What the product knows of each team: its tool gives it to callers of the team alone. */
export const stockOf = (scope: string): string => `cnry-${scope}-data-0`;

const lookUp = defineTool({
  ...{ name: "look_up", description: "Looks up the stock of the team.", parameters: about, replay: "pure" },
  execute: (_: unknown, { access }) => `In stock: ${stockOf(access.scope)}.`,
});
const refund = defineTool({
  ...{ name: "refund", description: "Gives money back.", parameters: about, approval: true },
  execute: ({ about: what }: { readonly about: string }) => `Refunded for ${what}.`,
});

export function startNode(options: NodeOptions): ProductNode {
  const { vendorUrl, platformKey, records, secrets, telemetry, write } = options;
  const logger = jsonLogger({ write, level: "debug" });
  const chat = (apiKey: string, model: string) => openai({ api: "chat", baseURL: vendorUrl, apiKey, model });
  const providers = providerSettings({
    ...{ mode: "AllowUserProviders", records, secrets, ids: randomIds, clock: systemClock },
    builders: { vendor: { title: "The vendor", baseUrl: "refused", create: ({ apiKey, model }) => chat(apiKey, model) } },
  });
  const approvals = createApprovals();
  const agent = createAgent({
    name: "clerk",
    provider: chat(platformKey, "large"),
    tools: [lookUp, refund, ...options.tools],
    hooks: [...options.hooks, approvals.hooks],
  });
  const { agents, ...embedding } = embedOptions({ agents: [agent] });
  const backend = redisBackend(options.redisUrl);
  const audit = auditLog({ log: backend.store.log, logger });
  const metrics = prometheusMetrics();
  const runtime = createRuntime({
    ...{ agents, logger },
    ...backend,
    resolveModel: (question) => providers.resolveModel(question),
    observers: [
      ...options.observers,
      ...metrics.observers,
      ...[turnObserver({ onTurn: latencyEvents(telemetry.events) }), usageObserver({ usage: telemetry.usage }), auditObserver(audit)],
    ],
  });
  const policy = accessPolicy({ store: backend.store });
  const host = createHost({ runtime, isOneOfMany: true });
  const server = createServer({
    ...{ host, ...embedding, ...policy, cookies: true, approvals: approvals.memory, metrics: metrics.text },
    authorize: auditedAuthorize(audit, policy.authorize),
    authenticate: options.authenticate,
    routes: [
      ...options.routes,
      ...embedding.routes,
      ...providerRoutes(providers),
      ...settingsRoutes(userSettings({ records })),
      usageRoute({ usage: telemetry.usage }),
    ],
  });
  return {
    ...{ server, host, audit },
    async close() {
      await server.close();
      await host.close();
      await audit.settled();
      await backend.close?.();
    },
  };
}
