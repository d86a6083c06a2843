import { type AgentCard, createClient, type LoopwrightClient } from "@loopwright/client";
import type { Json } from "@loopwright/core/protocol";
import { type ExtensionContext, type ExtensionRoute, eventStreamResponse } from "@loopwright/server";
import type { Task, TaskEvent } from "./a2a-task.ts";
import { type A2aSkill, agentCard } from "./agent-card.ts";
import { type RpcCall, type RpcId, readRpcCall, refuse, rpcErrorOf, rpcIdOf, rpcStatusOf } from "./json-rpc.ts";
import { legacyEvent, legacyMethods, legacyTask } from "./legacy-wire.ts";
import { listTasks } from "./list-tasks.ts";
import { readHistoryLength, readId, readMessageRequest } from "./message-request.ts";
import { followTask, type ReadTask, readTask } from "./read-task.ts";
import { recordMessage } from "./record-message.ts";
import { type Caller, placeOfTask } from "./task-place.ts";

export type { A2aSkill } from "./agent-card.ts";

export interface A2aOptions {
  /** Below the `basePath` of the server. Default `/a2a`. */
  readonly path?: string;
  /** The origin of the server as clients know it, where it is another one than that of the request: `https://agents.example`. */
  readonly url?: string;
  /** What each agent can do, for its card. Default: one skill, the agent itself. */
  readonly skills?: { readonly [agent: string]: readonly A2aSkill[] };
  /** The version of the agents, for their cards. Default `1.0.0`. */
  readonly version?: string;
  /** Cards name bearer tokens: clients read there how to sign in. Default false. */
  readonly isSecured?: boolean;
  /** Longest time until the task that a message waits for is given as it is, in milliseconds. Default 10 minutes. */
  readonly answerMs?: number;
}

const answerMsDefault = 600_000;

/** How long before the deadline of the route the task is given as it is. */
const marginMs = 5_000;

/**
 * Routes of A2A 1.0 and 0.3, split by the header `A2A-Version`: `POST /a2a/:agent` takes JSON-RPC for one agent and `POST /a2a` for the server's first one, whose card
 * is at `GET /.well-known/agent-card.json`; `GET /a2a/:agent/agent-card.json` has the card of each. Give them to the server as `routes`: its authentication, `authorize`
 * and limits hold for them.
 */
export function a2aRoutes(options: A2aOptions = {}): readonly ExtensionRoute[] {
  const { path = "/a2a", answerMs = answerMsDefault } = options;
  const card = (context: ExtensionContext): Promise<Response> => cardResponse(context, { ...options, path });
  const call = (context: ExtensionContext): Promise<Response> => answerCall(context, answerMs);
  const about = { body: "bytes", timeoutMs: answerMs + marginMs } as const;
  return [
    {
      method: "GET",
      path: "/.well-known/agent-card.json",
      id: "a2a-card",
      summary: "The card of the first agent, as A2A has it.",
      handle: card,
    },
    {
      method: "GET",
      path: `${path}/:agent/agent-card.json`,
      id: "a2a-agent-card",
      summary: "The card of an agent, as A2A has it.",
      handle: card,
    },
    { method: "POST", path, id: "a2a", summary: "A2A 1.0 and 0.3 of the first agent, as JSON-RPC.", ...about, handle: call },
    {
      method: "POST",
      path: `${path}/:agent`,
      id: "a2a-agent",
      summary: "A2A 1.0 and 0.3 of an agent, as JSON-RPC.",
      ...about,
      handle: call,
    },
  ];
}

const clientOf = (context: ExtensionContext): LoopwrightClient =>
  createClient({ url: context.url, fetch: (request) => context.fetch(request) });

async function cardResponse(context: ExtensionContext, options: A2aOptions & { readonly path: string }): Promise<Response> {
  const { params, request, url } = context;
  const { agents, default: first } = await clientOf(context).agents();
  const agent: AgentCard | undefined = agents.find(({ name }) => name === (params["agent"] ?? first));
  if (!agent) return Response.json({ error: "There is no such agent." }, { status: 404 });
  const { path, skills = {}, version = "1.0.0", isSecured = false } = options;
  const card = agentCard({
    ...{ agent, version, isSecured, isLegacy: !isCurrent(request.headers.get("a2a-version") ?? "") },
    url: `${options.url ?? new URL(request.url).origin}${basePathOf(url)}${path}/${encodeURIComponent(agent.name)}`,
    skills: skills[agent.name] ?? [],
  });
  return Response.json(card, { headers: { vary: "A2A-Version" } });
}

const basePathOf = (url: string): string => new URL(url).pathname.replace(/\/$/, "");

/** A version of 1.0: a client names the one that it knows by two numbers. */
const isCurrent = (version: string): boolean => /^1\.0(\.\d+)?$/.test(version.trim());
const isLegacy = (version: string): boolean => version.trim() === "" || /^0\.3(\.\d+)?$/.test(version.trim());

/** A call with what its answer needs. */
interface Asked {
  readonly client: LoopwrightClient;
  readonly caller: Caller;
  readonly call: RpcCall;
  readonly isLegacy: boolean;
  /** Aborted when the task is to be given as it is. */
  readonly late: AbortSignal;
}

async function answerCall(context: ExtensionContext, answerMs: number): Promise<Response> {
  const { request, params, principal } = context;
  const version = request.headers.get("a2a-version") ?? "";
  let id: RpcId = null;
  let streamsErrors = false;
  try {
    const body = bodyOf(context);
    id = rpcIdOf(body);
    if (!isLegacy(version) && !isCurrent(version))
      return refuse("VERSION_NOT_SUPPORTED", "`A2A-Version`: this server answers 1.0 and 0.3.");
    const call = readRpcCall(body);
    const method = isLegacy(version) ? (legacyMethods[call.method] ?? "") : call.method;
    // The SDK of 0.3 reads an error only where it looks for one.
    streamsErrors = isLegacy(version) && streamingMethods.has(method);
    const caller = { user: principal.user, agent: params["agent"] };
    const late = AbortSignal.any([context.signal, AbortSignal.timeout(answerMs)]);
    return await answerMethod({ client: clientOf(context), caller, call: { ...call, method }, isLegacy: isLegacy(version), late });
  } catch (error) {
    const answer = rpcErrorOf(id, error);
    return streamsErrors ? eventStreamResponse(framesOf([answer])) : rpcResponse(answer, rpcStatusOf(error));
  }
}

/** The parsed body. @throws RpcRefused */
function bodyOf({ body, request }: ExtensionContext): Json {
  const mediaType = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (mediaType !== "application/json" && mediaType !== "application/a2a+json")
    return refuse("INVALID_REQUEST", "`Content-Type`: send `application/json`.");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body as Uint8Array)) as Json;
  } catch {
    return refuse("PARSE_ERROR", "The body is not JSON.");
  }
}

/** `answer`: a value of JSON, which becomes text here. */
const rpcResponse = (answer: object, status = 200): Response => Response.json(answer, { status, headers: { vary: "A2A-Version" } });

const streamingMethods: ReadonlySet<string> = new Set(["SendStreamingMessage", "SubscribeToTask"]);

async function answerMethod(asked: Asked): Promise<Response> {
  const { client, caller, call, isLegacy: isOld } = asked;
  const { id, method, params } = call;
  const taskResponse = (task: Task): Response => resultResponse(id, isOld ? legacyTask(task) : task);
  switch (method) {
    case "SendMessage": {
      const request = readMessageRequest(params);
      const read = await recordMessage(client, caller, request);
      const task = await (request.returnsAtOnce ? currentTask(client, read) : settledTask(asked, read));
      const shown = task.fold.task(request.historyLength);
      return isOld ? taskResponse(shown) : resultResponse(id, { task: shown });
    }
    case "SendStreamingMessage": {
      const request = readMessageRequest(params);
      return streamResponse(asked, await recordMessage(client, caller, request), request.historyLength);
    }
    case "SubscribeToTask": {
      const read = await readTask(client, await placeOfTask(client, readId(params["id"], "id")));
      if (read.fold.isEnded) return refuse("UNSUPPORTED_OPERATION", "The task has ended: there is nothing to subscribe to.");
      return streamResponse(asked, read);
    }
    case "GetTask": {
      const { fold } = await readTask(client, await placeOfTask(client, readId(params["id"], "id")));
      return taskResponse(fold.task(readHistoryLength(params["historyLength"])));
    }
    case "CancelTask":
      return taskResponse(await cancelTask(asked, readId(params["id"], "id")));
    case "ListTasks":
      return resultResponse(id, await listTasks(client, params, { caller, signal: asked.late }));
    default:
      return refuseMethod(method);
  }
}

function refuseMethod(method: string): never {
  if (method.includes("PushNotificationConfig"))
    return refuse("PUSH_NOTIFICATION_NOT_SUPPORTED", "This server sends no push notifications: subscribe to the task.");
  if (method === "GetExtendedAgentCard")
    return refuse("EXTENDED_AGENT_CARD_NOT_CONFIGURED", "There is one card alone: every caller gets what it may see.");
  return refuse("METHOD_NOT_FOUND", "This server has no such method. Does `A2A-Version` name the version of the client?");
}

const resultResponse = (id: RpcId, result: object): Response => rpcResponse({ jsonrpc: "2.0", id, result });

/** The task as the log has it now. */
const currentTask = (client: LoopwrightClient, { place }: ReadTask): Promise<ReadTask> => readTask(client, place);

/** The task at its end or at its question, or as it is after `answerMs`. */
async function settledTask({ client, late }: Asked, read: ReadTask): Promise<ReadTask> {
  for await (const _ of followTask(client, read, late));
  return read;
}

/** Stops the run, and gives the task at its end. One that was stopped before is given again. */
async function cancelTask(asked: Asked, taskId: string): Promise<Task> {
  const { client, late } = asked;
  const place = await placeOfTask(client, taskId);
  const read = await readTask(client, place);
  if (read.fold.state === "TASK_STATE_CANCELED") return read.fold.task();
  if (!read.fold.isEnded && (await client.sessions.abort(place.session, "user", { runId: place.runId }))) {
    const ended = await readTask(client, place);
    for await (const _ of followTask(client, ended, late));
    if (ended.fold.state === "TASK_STATE_CANCELED") return ended.fold.task();
  }
  return refuse("TASK_NOT_CANCELABLE", "The task has ended before it could be canceled.");
}

/** The task as it is and what follows. A client that leaves does not stop the run: it may subscribe to the task. */
function streamResponse({ client, call: { id }, isLegacy: isOld }: Asked, read: ReadTask, historyLength?: number): Response {
  const leaving = new AbortController();
  const answerOf = (event: TaskEvent): object => ({
    ...{ jsonrpc: "2.0", id },
    result: isOld ? legacyEvent(event) : event,
  });
  async function* answers(): AsyncGenerator<readonly object[], void> {
    yield [answerOf({ task: read.fold.task(historyLength) })];
    try {
      for await (const events of followTask(client, read, leaving.signal)) yield events.map(answerOf);
    } catch (error) {
      yield [rpcErrorOf(id, error)];
    }
  }
  return eventStreamResponse(framesOf(answers()), { left: () => leaving.abort(), headers: { vary: "A2A-Version" } });
}

async function* framesOf(answers: Iterable<object> | AsyncIterable<readonly object[]>): AsyncGenerator<string, void> {
  for await (const given of answers)
    yield (Array.isArray(given) ? given : [given]).map((answer) => `data: ${JSON.stringify(answer)}\n\n`).join("");
}
