import { createClient, type LoopwrightClient } from "@loopwright/client";
import type { SessionSnapshot } from "@loopwright/core/protocol";
import type { ExtensionContext, ExtensionRoute } from "@loopwright/server";
import { refusalOf } from "./chat-refused.ts";
import { readChatRequest } from "./chat-request.ts";
import { type AnsweringRun, findChat, recordRequest } from "./chat-session.ts";
import { chatStream } from "./chat-stream.ts";
import { UiChunks } from "./ui-chunks.ts";
import { uiMessagesOf } from "./ui-messages.ts";

export interface AiSdkOptions {
  /** Below the `basePath` of the server: the `api` of the page's transport. Default `/api/chat`, as there. */
  readonly path?: string;
  /**
   * How long after its end an answer is given again to a page that resumes, in milliseconds: the end may have come while its connection was cut. Then there is nothing to
   * resume, and the page reads the messages. Default 30 seconds.
   */
  readonly replayMs?: number;
}

const replayMsDefault = 30_000;

/**
 * Routes for pages of the AI SDK, as its `DefaultChatTransport` asks for them: `POST /api/chat` streams the answer of an agent and `GET /api/chat/:id/stream` the
 * answer that is under way. `GET /api/chat/:id` has the messages of a chat, and `POST /api/chat/:id/stop` stops its run. Give them to the server as `routes`: its
 * authentication, `authorize` and limits hold for them.
 */
export function aiSdkRoutes({ path = "/api/chat", replayMs = replayMsDefault }: AiSdkOptions = {}): readonly ExtensionRoute[] {
  return [
    {
      ...{ method: "POST", path, id: "ai-sdk-chat", summary: "The answer of an agent as a UI message stream of the AI SDK." },
      ...{ body: "json" },
      handle: answering(async (client, { body, request, principal: { user } }) => {
        const key = request.headers.get("idempotency-key") ?? undefined;
        return streamed(client, await recordRequest(client, readChatRequest(body), { user, key }));
      }),
    },
    {
      ...{ method: "GET", path: `${path}/:id/stream`, id: "ai-sdk-resume", summary: "The answer that is under way, from its beginning." },
      handle: answering(async (client, context) => {
        const chat = await findChat(client, chatOf(context));
        const runId = chat && resumableRun(chat, replayMs);
        return chat && runId !== undefined ? streamed(client, { session: chat.sessionId, runId }) : new Response(null, { status: 204 });
      }),
    },
    {
      ...{ method: "GET", path: `${path}/:id`, id: "ai-sdk-messages", summary: "The messages of a chat, as the AI SDK shows them." },
      handle: answering(async (client, context) => {
        const chat = await findChat(client, chatOf(context));
        return Response.json({ messages: chat ? uiMessagesOf(chat) : [] });
      }),
    },
    {
      ...{ method: "POST", path: `${path}/:id/stop`, id: "ai-sdk-stop", summary: "Stops the answer that is under way." },
      handle: answering(async (client, context) => {
        const chat = await findChat(client, chatOf(context));
        const stopping = chat !== undefined && (await client.sessions.abort(chat.sessionId, "user"));
        return Response.json({ stopping });
      }),
    },
  ];
}

type Handler = (client: LoopwrightClient, context: ExtensionContext) => Promise<Response>;

/** A handler whose refusals are one sentence. */
function answering(handler: Handler): ExtensionRoute["handle"] {
  return async (context) => {
    try {
      return await handler(createClient({ url: context.url, fetch: (request) => context.fetch(request) }), context);
    } catch (error) {
      return refusalOf(error);
    }
  };
}

const chatOf = ({ params, principal: { user } }: ExtensionContext) => ({ user, chatId: params["id"] ?? "" });

/** The run that is under way, or has come to its end or its wait just now. */
function resumableRun({ status, run, waiting, lastRun, updatedAt }: SessionSnapshot, replayMs: number): string | undefined {
  if (status === "running") return run?.runId ?? waiting[0]?.runId;
  return Date.now() - updatedAt < replayMs ? (run ?? lastRun)?.runId : undefined;
}

/** A page that leaves does not stop the run: it may come back. */
async function streamed(client: LoopwrightClient, { session, runId, afterTurn = 0 }: AnsweringRun): Promise<Response> {
  const leaving = new AbortController();
  const stream = await client.sessions.stream(session, runId, { signal: leaving.signal });
  return chatStream(stream, new UiChunks({ runId, afterTurn }), () => leaving.abort());
}
