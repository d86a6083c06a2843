import { type ClientExecuteOptions, createClient, type LoopwrightClient } from "@loopwright/client";
import { type AgentEvent, type ExecuteStream, isAgentError } from "@loopwright/core/protocol";
import type { ExtensionContext, ExtensionRoute } from "@loopwright/server";
import { type AnswerHead, completionOf } from "./chat-answer.ts";
import { type ChatPiece, ChatPieces } from "./chat-pieces.ts";
import { type ChatRequest, readChatRequest } from "./chat-request.ts";
import { chatStream } from "./chat-stream.ts";
import { type NamedSession, namedSession } from "./named-session.ts";
import { errorResponse, RequestRefused } from "./openai-error.ts";
import { SdkRetries } from "./sdk-retries.ts";

export interface OpenAiOptions {
  /** Below the `basePath` of the server. Default `/v1`. */
  readonly path?: string;
  /** Longest time until an answer in one piece is there, in milliseconds. Default 10 minutes, the SDK's own limit. */
  readonly answerMs?: number;
}

const answerMsDefault = 600_000;

/**
 * Routes of OpenAI's API: `GET /v1/models`, `GET /v1/models/:id` and `POST /v1/chat/completions`. An agent is a model by its name. Give them to the server as
 * `routes`: its authentication, `authorize` and limits hold for them.
 */
export function openaiRoutes({ path = "/v1", answerMs = answerMsDefault }: OpenAiOptions = {}): readonly ExtensionRoute[] {
  const retries = new SdkRetries();
  return [
    {
      ...{ method: "GET", path: `${path}/models`, id: "openai-models", summary: "The agents, as models of OpenAI's API." },
      handle: answering(async (client) => Response.json({ object: "list", data: await models(client) })),
    },
    {
      ...{ method: "GET", path: `${path}/models/:id`, id: "openai-model", summary: "One agent, as a model of OpenAI's API." },
      handle: answering(async (client, { params }) => Response.json(await modelOf(client, params["id"] ?? ""))),
    },
    {
      ...{ method: "POST", path: `${path}/chat/completions`, id: "openai-chat", summary: "Chat completions of OpenAI's API, by an agent." },
      ...{ body: "json", timeoutMs: answerMs },
      handle: answering((client, context) => chatCompletion(client, context, retries)),
    },
  ];
}

type Handler = (client: LoopwrightClient, context: ExtensionContext) => Promise<Response>;

/** A handler whose refusals are errors of OpenAI's API. */
function answering(handler: Handler): ExtensionRoute["handle"] {
  return async (context) => {
    try {
      return await handler(createClient({ url: context.url, fetch: (request) => context.fetch(request) }), context);
    } catch (error) {
      return errorResponse(error);
    }
  };
}

interface Model {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: string;
}

async function models(client: LoopwrightClient): Promise<readonly Model[]> {
  const { agents } = await client.agents();
  return agents.map(({ name }) => ({ id: name, object: "model", created: 0, owned_by: "loopwright" }));
}

/** @throws RequestRefused with 404 for a name that is no agent's */
async function modelOf(client: LoopwrightClient, id: string): Promise<Model> {
  const found = (await models(client)).find((model) => model.id === id);
  if (found) return found;
  throw new RequestRefused(`There is no model \`${id}\`. \`GET /v1/models\` lists those that there are.`, {
    ...{ status: 404, param: "model", code: "model_not_found" },
  });
}

async function chatCompletion(
  client: LoopwrightClient,
  { body, request, principal: { user } }: ExtensionContext,
  retries: SdkRetries,
): Promise<Response> {
  const asked = readChatRequest(body);
  const { id: agent } = await modelOf(client, asked.model);
  const given = request.headers.get("idempotency-key") ?? undefined;
  const key = given ?? (await retries.keyOf(request, { user, body }));
  const chatId = asked.chatId ?? request.headers.get("x-openwebui-chat-id") ?? undefined;
  const named = chatId === undefined ? ({ kind: "key", name: key } as const) : ({ kind: "chat", name: chatId } as const);
  const session = await namedSession(client, { ...named, agent, user });
  const stream = client.execute(inputOf(asked), { ...optionsOf(asked, session), idempotencyKey: key });
  const events = await accepted(stream);
  const head: AnswerHead = { id: `chatcmpl-${stream.sessionId}`, created: Math.floor(Date.now() / 1000), model: agent };
  const tools = new Set(asked.tools.map(({ name }) => name));
  if (!asked.isStreamed) return wholeAnswer({ head, stream, events, tools });
  return chatStream({ ...{ head, stream, events, tools }, includesUsage: asked.includesUsage, stopsWhenLeft: given === undefined });
}

/** The events of a run that is accepted: until then a refusal is an answer with a status of its own. @throws AgentError */
async function accepted(stream: ExecuteStream): Promise<AsyncIterator<AgentEvent>> {
  const events = stream[Symbol.asyncIterator]();
  let first = await events.next();
  // The client itself makes this event before it has asked the server.
  while (!first.done && first.value.type === "session_start") first = await events.next();
  if (first.done) await stream.result();
  return eventsFrom(first, events);
}

async function* eventsFrom(first: IteratorResult<AgentEvent>, events: AsyncIterator<AgentEvent>): AsyncGenerator<AgentEvent, void> {
  for (let read = first; !read.done; read = await events.next()) yield read.value;
}

const inputOf = ({ input }: ChatRequest) => ("results" in input ? input.results : input);

/** A session that exists keeps what it was created with. */
function optionsOf({ input, history, systemPrompt, model, tools, options }: ChatRequest, session: NamedSession): ClientExecuteOptions {
  const chosen = options as Pick<ClientExecuteOptions, "temperature">;
  const declared = tools.length === 0 ? {} : { context: { tools } };
  if ("results" in input) return { ...chosen, ...declared, sessionId: input.session };
  if (session.exists) return { ...chosen, ...declared, ...(systemPrompt === undefined ? {} : { systemPrompt }), sessionId: session.id };
  const begins = { ...(systemPrompt === undefined ? {} : { systemPrompt }), ...(history.length === 0 ? {} : { messages: history }) };
  return { ...chosen, agent: model, context: { ...declared.context, ...begins }, sessionId: session.id };
}

interface WholeAnswer {
  readonly head: AnswerHead;
  readonly stream: ExecuteStream;
  readonly events: AsyncIterator<AgentEvent>;
  readonly tools: ReadonlySet<string>;
}

/** The answer in one piece: what the pieces of a streamed one make together, so that withdrawn text is not in it. */
async function wholeAnswer({ head, stream, events, tools }: WholeAnswer): Promise<Response> {
  const reader = new ChatPieces();
  const pieces: ChatPiece[] = [];
  for (let read = await events.next(); !read.done; read = await events.next())
    if (read.value.type === "message_end") pieces.push(...reader.take(read.value));
  try {
    const result = await stream.result();
    if (result.error) return errorResponse(result.error, { hasRun: true });
    const end = reader.finish(result, { sessionId: stream.sessionId, tools });
    return Response.json(completionOf(head, { pieces: [...pieces, ...end.pieces], finishReason: end.finishReason, usage: result.usage }));
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return errorResponse(error, { hasRun: true });
  }
}
