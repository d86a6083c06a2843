import { type Agent, type AgentSettings, createAgent } from "@loopwright/core";
import { memoryStore, type ScriptedProvider, type ScriptedStep, scripted } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { createServer, type Principal, type ServerOptions } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import OpenAI, { type ClientOptions } from "openai";
import { onTestFinished } from "vitest";
import { openaiRoutes } from "../src/index.ts";

/** A server on a port of its own, the SDK of OpenAI pointed at it, and what the model of its agent was asked. */
export interface OpenAiServer {
  readonly url: string;
  readonly client: OpenAI;
  readonly provider: ScriptedProvider;
  /** Another client, for example of another user. */
  clientOf(options: ClientOptions): OpenAI;
}

const users: Readonly<Record<string, Principal>> = {
  "key of anne": { user: "anne", scope: "garden", trusted: true },
  "key of ben": { user: "ben", scope: "garden" },
  "key of eve": { user: "eve", scope: "city" },
};

/** Two nodes on one store, with one model. */
export async function twoNodes(script: readonly ScriptedStep[]): Promise<readonly [OpenAiServer, OpenAiServer]> {
  const provider = scripted(script);
  const store = memoryStore();
  const node = (): Promise<OpenAiServer> => serverOf({ agents: [createAgent({ name: "helper", provider })], provider, store });
  return [await node(), await node()];
}

/** An agent `helper` that plays these turns. */
export async function openaiServer(script: readonly ScriptedStep[], more: Partial<AgentSettings> = {}): Promise<OpenAiServer> {
  const provider = scripted(script);
  return serverOf({ agents: [createAgent({ name: "helper", provider, ...more })], provider });
}

interface Served extends Partial<ServerOptions> {
  readonly agents: readonly Agent[];
  readonly provider: ScriptedProvider;
  readonly store?: SessionStore;
}

/** A server of these agents. */
async function serverOf({ agents, provider, store = memoryStore(), ...more }: Served): Promise<OpenAiServer> {
  const server = createServer({
    ...{ runtime: createRuntime({ agents, store }), routes: openaiRoutes() },
    authenticate: (request) => users[request.headers.get("authorization")?.replace("Bearer ", "") ?? ""],
    ...more,
  });
  const listening = await listen(server, { port: 0 });
  onTestFinished(async () => {
    await listening.close();
    await server.close();
  });
  const clientOf: OpenAiServer["clientOf"] = (options) => new OpenAI({ baseURL: `${listening.url}/v1`, apiKey: "key of anne", ...options });
  return { url: listening.url, client: clientOf({}), provider, clientOf };
}
