import { type Agent, createAgent, type Observer } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import type { Logger, SessionStore, UsageLedger } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { type AgentServer, createServer, type ExtensionRoute, type Principal } from "@loopwright/server";

export interface TelemetryServerOptions {
  readonly agent?: Agent;
  readonly store?: SessionStore;
  readonly observers?: readonly Observer[];
  readonly ledger?: UsageLedger;
  readonly routes?: readonly ExtensionRoute[];
  readonly metrics?: () => string;
  readonly logger?: Logger;
  /** The caller. Default: an operator. */
  readonly principal?: () => Principal;
}

export const operator = (): Principal => ({ user: "olga", scope: "ops", trusted: true });
export const anne = (): Principal => ({ user: "anne", scope: "team" });

/** A server with routes of telemetry. */
export function telemetryServer({ principal = operator, ...options }: TelemetryServerOptions): {
  readonly server: AgentServer;
  ask(path: string, json?: object): Promise<{ readonly status: number; readonly text: string; readonly body: never }>;
} {
  const {
    agent = createAgent({ name: "helper", provider: scripted(() => ({ text: "Hello." })) }),
    store = memoryStore(),
    ...more
  } = options;
  const { observers, ledger, logger, routes, metrics } = more;
  const runtime = createRuntime({
    ...{ agents: [agent], store },
    ...(observers ? { observers } : {}),
    ...(ledger ? { ledger } : {}),
    ...(logger ? { logger } : {}),
  });
  const server = createServer({ runtime, authenticate: principal, ...(routes ? { routes } : {}), ...(metrics ? { metrics } : {}) });
  return {
    server,
    async ask(path, json) {
      const init =
        json === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(json) };
      const response = await server.fetch(new Request(`http://localhost${path}`, init), { remoteAddress: "127.0.0.1" });
      const text = await response.text();
      const isJson = response.headers.get("Content-Type")?.includes("json");
      return { status: response.status, text, body: (isJson ? JSON.parse(text) : undefined) as never };
    },
  };
}
