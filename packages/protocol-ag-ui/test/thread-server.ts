import { HttpAgent, type RunAgentParameters } from "@ag-ui/client";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import { type AgentSettings, createAgent } from "@loopwright/core";
import { memoryStore, type ScriptedProvider, type ScriptedStep, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer, type Principal } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { onTestFinished } from "vitest";
import { agUiRoutes } from "../src/index.ts";

interface PageOptions {
  readonly user?: string;
  readonly threadId?: string;
  readonly fetch?: typeof fetch;
}

/** A server on a port of its own, and agents of AG-UI's SDK that talk to it. */
export interface ThreadServer {
  readonly url: string;
  readonly provider: ScriptedProvider;
  /** Of Anne. */
  readonly client: LoopwrightClient;
  page(options?: PageOptions): HttpAgent;
  /** Sends a request as Anne. */
  send(path: string, body?: unknown): Promise<Response>;
}

const users: Readonly<Record<string, Principal>> = {
  anne: { user: "anne", scope: "garden" },
  ben: { user: "ben", scope: "garden" },
};

/** An agent `helper` that plays these turns. */
export async function threadServer(
  script: readonly ScriptedStep[],
  { hasState = false, ...more }: Partial<AgentSettings> & { readonly hasState?: boolean } = {},
): Promise<ThreadServer> {
  const provider = scripted(script);
  const server = createServer({
    runtime: createRuntime({ agents: [createAgent({ name: "helper", provider, ...more })], store: memoryStore() }),
    routes: agUiRoutes({ state: hasState }),
    authenticate: (request) => users[request.headers.get("authorization")?.replace("Bearer key-of-", "") ?? ""],
  });
  const { url, close } = await listen(server, { port: 0 });
  onTestFinished(async () => {
    await close();
    await server.close();
  });
  return {
    ...{ url, provider, client: createClient({ url, headers: { authorization: "Bearer key-of-anne" } }) },
    page({ user = "anne", threadId = "first thread", fetch: fetchOf } = {}) {
      const headers = { authorization: `Bearer key-of-${user}` };
      return new HttpAgent({ url: `${url}/ag-ui/helper`, threadId, headers, ...(fetchOf ? { fetch: fetchOf } : {}) });
    },
    send: (path, body) =>
      fetch(`${url}${path}`, {
        headers: { authorization: "Bearer key-of-anne", "content-type": "application/json" },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      }),
  };
}

/** Sends a text of the user, and gives the events of the run. */
export async function say(agent: HttpAgent, text: string, parameters: RunAgentParameters = {}): Promise<readonly Event[]> {
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
  return run(agent, parameters);
}

export type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Runs with the messages that there are. @throws what the SDK throws, also for a stream that is not legal */
export async function run(agent: HttpAgent, parameters: RunAgentParameters = {}): Promise<readonly Event[]> {
  const events: Event[] = [];
  await agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(event as unknown as Event) });
  return events;
}

/** The last message without its id. */
export function lastMessage(agent: HttpAgent): unknown {
  const { id: _, ...message } = agent.messages.at(-1) ?? { id: "" };
  return message;
}

/** The response, which ends after these bytes. The SDK rejects nothing that can be awaited when a stream fails, so it ends without an error. */
export function cutAfter(bytes: number, response: Response): Response {
  const reader = response.body?.getReader();
  let left = bytes;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) return controller.close();
      controller.enqueue(value.subarray(0, left));
      left -= value.length;
      if (left <= 0) controller.close();
    },
  });
  return new Response(body, response);
}
