import { type AgentSettings, createAgent, type Hooks, type Tool } from "@loopwright/core";
import { memoryChannel, memoryStore, type ScriptedProvider, type ScriptedStep, scripted, silentLogger } from "@loopwright/core/memory";
import type { EventChannel, SessionStore } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { createServer, type Principal, type ServerOptions } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { mcpRoutes, toolAgent } from "../src/index.ts";

export interface ServedAgents {
  readonly endpoint: URL;
  readonly provider: ScriptedProvider;
  /** How runs have ended. */
  readonly ends: readonly string[];
  /** A client of the SDK that is connected. */
  connect(options?: ConnectOptions): Promise<Client>;
  /** Gives a request to the server itself, without a connection. */
  fetch(request: Request): Promise<Response>;
  /** Sends a message as Anne, or with other headers. */
  send(body: unknown, headers?: Record<string, string>): Promise<Response>;
}

export interface ConnectOptions extends ClientOptions {
  readonly user?: string;
  readonly headers?: Record<string, string>;
  readonly fetch?: typeof fetch;
}

/** Protocols that a client of the SDK speaks. */
export const modern = { versionNegotiation: { mode: { pin: "2026-07-28" } } } as const;

const users: Readonly<Record<string, Principal>> = {
  anne: { user: "anne", scope: "garden" },
  "anne-elsewhere": { user: "anne", scope: "kitchen" },
  ben: { user: "ben", scope: "garden" },
};

export interface ServedOptions {
  readonly agent?: Partial<AgentSettings>;
  readonly server?: Partial<ServerOptions>;
  /** Offered one by one. */
  readonly tools?: readonly Tool[];
  /** What it shares with another server. Default: nothing. */
  readonly shared?: { readonly store: SessionStore; readonly channel: EventChannel };
}

/** A server whose agent `helper` plays these turns. */
export async function serveAgents(
  script: readonly ScriptedStep[],
  { agent = {}, server: more = {}, tools = [], shared = { store: memoryStore(), channel: memoryChannel() } }: ServedOptions = {},
): Promise<ServedAgents> {
  const provider = scripted(script);
  const ends: string[] = [];
  const watch: Hooks = { name: "watch", run: { end: ({ result }) => void ends.push(result.status) } };
  const helper = createAgent({ name: "helper", provider, hooks: [watch], ...agent });
  const direct = tools.length === 0 ? undefined : toolAgent({ tools, hooks: [watch] });
  const server = createServer({
    runtime: createRuntime({ agents: [helper, ...(direct ? [direct] : [])], ...shared, logger: silentLogger }),
    routes: mcpRoutes(direct ? { tools: direct } : {}),
    authenticate: (request) => users[request.headers.get("authorization")?.replace("Bearer key-of-", "") ?? ""],
    ...more,
  });
  const { url, close } = await listen(server, { port: 0 });
  const clients: Client[] = [];
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await close();
    await server.close();
  });
  const endpoint = new URL(`${url}/mcp`);
  return {
    ...{ endpoint, provider, ends },
    fetch: (request) => server.fetch(request),
    async connect({ user = "anne", headers = {}, fetch: fetchOf, ...options } = {}) {
      const client = new Client({ name: "host", version: "1.0.0" }, options);
      const requestInit = { headers: { authorization: `Bearer key-of-${user}`, ...headers } };
      await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit, ...(fetchOf ? { fetch: fetchOf } : {}) }));
      clients.push(client);
      return client;
    },
    send: (body, headers = {}) =>
      fetch(endpoint, {
        method: "POST",
        headers: {
          authorization: "Bearer key-of-anne",
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...headers,
        },
        body: JSON.stringify(body),
      }),
  };
}
