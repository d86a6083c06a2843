import { type Part, SendMessageRequest, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import { type Client, ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import type * as Legacy from "@a2a-js/sdk-03";
import * as legacy from "@a2a-js/sdk-03/client";
import { type AgentSettings, createAgent } from "@loopwright/core";
import { memoryStore, type ScriptedProvider, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer, type Principal } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { onTestFinished } from "vitest";
import { type A2aOptions, a2aRoutes } from "../src/index.ts";

interface ClientSettings {
  readonly user?: string;
  /** The response as the client gets it. */
  readonly through?: (response: Response) => Response;
}

/** A server on a port of its own, and clients of the official SDKs that talk to it. */
export interface TaskServer {
  readonly url: string;
  readonly provider: ScriptedProvider;
  /** The client of SDK 1.x. */
  client(settings?: ClientSettings): Promise<Client>;
  /** The client of SDK 0.3. */
  legacyClient(settings?: ClientSettings): Promise<legacy.Client>;
  /** Sends a request as Anne, in JSON-RPC 1.0. */
  send(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

const users: Readonly<Record<string, Principal>> = {
  anne: { user: "anne", scope: "garden" },
  ben: { user: "ben", scope: "orchard" },
  carl: { user: "carl", scope: "garden" },
};

/** Requests of this user; the SDKs take their fetch. */
const fetchOf = ({ user = "anne", through }: ClientSettings): typeof fetch => {
  return async (input, init) => {
    const headers = { ...(init?.headers as Record<string, string>), authorization: `Bearer key-of-${user}` };
    const response = await fetch(input, { ...init, headers });
    return through?.(response) ?? response;
  };
};

/** An agent `helper` that plays these turns. */
export async function taskServer(
  script: Parameters<typeof scripted>[0],
  more: Partial<AgentSettings> = {},
  options: A2aOptions = {},
): Promise<TaskServer> {
  const provider = scripted(script);
  const server = createServer({
    runtime: createRuntime({ agents: [createAgent({ name: "helper", provider, ...more })], store: memoryStore() }),
    routes: a2aRoutes(options),
    authenticate: (request) => users[request.headers.get("authorization")?.replace("Bearer key-of-", "") ?? ""],
  });
  const { url, close } = await listen(server, { port: 0 });
  onTestFinished(async () => {
    await close();
    await server.close();
  });
  return {
    ...{ url, provider },
    client(settings = {}) {
      const fetchImpl = fetchOf(settings);
      const transports = [new JsonRpcTransportFactory({ fetchImpl })];
      const cardResolver = new DefaultAgentCardResolver({ fetchImpl });
      return new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports, cardResolver })).createFromUrl(
        url,
      );
    },
    legacyClient(settings = {}) {
      const fetchImpl = fetchOf(settings);
      const transports = [new legacy.JsonRpcTransportFactory({ fetchImpl })];
      const cardResolver = new legacy.DefaultAgentCardResolver({ fetchImpl });
      const { createFrom, default: base } = legacy.ClientFactoryOptions;
      return new legacy.ClientFactory(createFrom(base, { transports, cardResolver })).createFromUrl(url);
    },
    send(body, headers = { "a2a-version": "1.0" }) {
      const given = { "content-type": "application/json", authorization: "Bearer key-of-anne", ...headers };
      return fetch(`${url}/a2a/helper`, { method: "POST", headers: given, body: typeof body === "string" ? body : JSON.stringify(body) });
    },
  };
}

interface Written {
  readonly messageId?: string;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly data?: unknown;
}

/** What the SDK of 1.x sends for this text or data. */
export function message(
  text: string,
  { data, messageId = crypto.randomUUID(), ...ids }: Written = {},
  configuration: object = {},
): SendMessageRequest {
  const parts = data === undefined ? [{ text }] : [{ data }];
  return SendMessageRequest.fromJSON({ message: { messageId, role: "ROLE_USER", parts, ...ids }, configuration });
}

/** What the SDK of 0.3 sends for this text. */
export const legacyMessage = (text: string, ids: Written = {}): Legacy.MessageSendParams => ({
  message: { kind: "message", messageId: crypto.randomUUID(), role: "user", parts: [{ kind: "text", text }], ...ids },
});

/** A stream as a client of 1.x keeps it. */
export class Kept {
  readonly states: string[] = [];
  readonly events: StreamResponse[] = [];
  task: Task | undefined;
  text = "";

  take(event: StreamResponse): void {
    const { payload } = event;
    this.events.push(event);
    if (payload?.$case === "task") {
      this.task = payload.value;
      this.text = textOf(payload.value);
      this.#see(payload.value.status?.state);
    }
    if (payload?.$case === "statusUpdate") this.#see(payload.value.status?.state);
    if (payload?.$case !== "artifactUpdate") return;
    const text = (payload.value.artifact?.parts ?? []).map(partText).join("");
    this.text = payload.value.append ? this.text + text : text;
  }

  #see(state: TaskState = TaskState.UNRECOGNIZED): void {
    const name = TaskState[state].replace("TASK_STATE_", "");
    if (this.states.at(-1) !== name) this.states.push(name);
  }
}

/** Reads a stream to its end. */
export async function keep(stream: AsyncIterable<StreamResponse>, kept: Kept = new Kept()): Promise<Kept> {
  for await (const event of stream) kept.take(event);
  return kept;
}

const partText = ({ content }: Part): string => (content?.$case === "text" ? content.value : "");

/** The text of all artifacts of a task. */
export const textOf = ({ artifacts }: Task): string => artifacts.flatMap(({ parts }) => parts.map(partText)).join("");

/** The answer to a message that was waited for. */
export async function asTask(answer: Promise<unknown>): Promise<Task> {
  return (await answer) as Task;
}

export const stateOf = ({ status }: Task): string => TaskState[status?.state ?? TaskState.UNRECOGNIZED];

/** The calls of a question, from its data part. */
export function questionOf({ status }: Task): {
  readonly approvals: readonly { callKey: string }[];
  readonly calls: readonly { callKey: string }[];
} {
  const data = status?.message?.parts.find(({ content }) => content?.$case === "data");
  return data?.content?.value as ReturnType<typeof questionOf>;
}
