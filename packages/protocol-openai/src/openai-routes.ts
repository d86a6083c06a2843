import { createClient, type LoopwrightClient } from "@loopwright/client";
import { type AgentEvent, type ExecuteStream, isAgentError } from "@loopwright/core/protocol";
import type { ExtensionContext, ExtensionRoute } from "@loopwright/server";
import { type AnswerHead, completionOf } from "./chat-answer.ts";
import { type ChatPiece, ChatPieces } from "./chat-pieces.ts";
import { readChatRequest } from "./chat-request.ts";
import { chatStream } from "./chat-stream.ts";
import { modelOf, models } from "./models.ts";
import { namedSession } from "./named-session.ts";
import { errorResponse } from "./openai-error.ts";
import { cancelResponse, createResponse, readResponse } from "./response-routes.ts";
import { acceptedRun, runInputOf, runOptionsOf } from "./run-input.ts";
import { SdkRetries } from "./sdk-retries.ts";

export interface OpenAiOptions {
  /** Below the `basePath` of the server. Default `/v1`. */
  readonly path?: string;
  /** Longest time until an answer in one piece is there, in milliseconds. Default 10 minutes, the SDK's own limit. */
  readonly answerMs?: number;
}

const answerMsDefault = 600_000;

/**
 * Routes of OpenAI's API: `GET /v1/models`, `GET /v1/models/:id`, `POST /v1/chat/completions`, and `POST /v1/responses` with `GET /v1/responses/:id` and
 * `POST /v1/responses/:id/cancel`. An agent is a model by its name. Give them to the server as
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
    {
      ...{ method: "POST", path: `${path}/responses`, id: "openai-response", summary: "Responses of OpenAI's API, by an agent." },
      ...{ body: "json", timeoutMs: answerMs },
      handle: answering((client, context) => createResponse(client, context, retries)),
    },
    {
      ...{ method: "GET", path: `${path}/responses/:id`, id: "openai-response-read", summary: "A response, from the log." },
      timeoutMs: answerMs,
      handle: answering(readResponse),
    },
    {
      ...{ method: "POST", path: `${path}/responses/:id/cancel`, id: "openai-response-cancel", summary: "Stops the run of a response." },
      handle: answering(cancelResponse),
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
  const session = await namedSession(client, { ...named, agent, user, isRandom: (chatId ?? given) === undefined });
  const stream = client.execute(runInputOf(asked), { ...runOptionsOf(asked, session), idempotencyKey: key });
  const { events } = await acceptedRun(stream);
  const head: AnswerHead = { id: `chatcmpl-${stream.sessionId}`, created: Math.floor(Date.now() / 1000), model: agent };
  const tools = new Set(asked.tools.map(({ name }) => name));
  const isFormed = asked.form !== undefined;
  if (!asked.isStreamed) return wholeAnswer({ head, stream, events, tools, isFormed });
  return chatStream({
    ...{ head, stream, events, tools, isFormed },
    includesUsage: asked.includesUsage,
    stopsWhenLeft: given === undefined,
  });
}

interface WholeAnswer {
  readonly head: AnswerHead;
  readonly stream: ExecuteStream;
  readonly events: AsyncIterable<AgentEvent>;
  readonly tools: ReadonlySet<string>;
  readonly isFormed: boolean;
}

/** The answer in one piece: what the pieces of a streamed one make together, so that withdrawn text is not in it. */
async function wholeAnswer({ head, stream, events, tools, isFormed }: WholeAnswer): Promise<Response> {
  const reader = new ChatPieces({ isFormed });
  const pieces: ChatPiece[] = [];
  for await (const event of events) if (event.type === "message_end") pieces.push(...reader.take(event));
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
