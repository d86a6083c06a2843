/*
 * Owns: the route between a page and a remote agent: the page sends text and gets three kinds of events, and needs to know neither A2A nor the agent's credentials.
 * Does not own: the requests of A2A (remote-calls), which event is which (chat-fold).
 *
 * I1 A page that leaves stops nothing: it asks for the task again. I2 Nothing of the page's request reaches the agent but the text and the ids; headers come from the
 * options alone. I3 A body is JSON by its content type, so that a foreign page cannot send one.
 */
import { AgentError, isAgentError, type JsonObject } from "@loopwright/core";
import { ChatFold, type ChatFrame } from "./chat-fold.ts";
import { RemoteCalls, type RemoteCallsOptions, type RemoteMessage } from "./remote-calls.ts";
import { isAtRest, isObject, type RemoteEvent } from "./remote-task.ts";

export interface ChatProxyOptions extends Omit<RemoteCallsOptions, "headers"> {
  /** Headers of the requests to the agent, for this request of a page: the token of its user, for example. Default: none. */
  readonly headers?: (request: Request) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
}

/** Longest body, in characters; longest id. */
const [bodyCharsMax, idCharsMax] = [256 * 1024, 512];

/**
 * A handler between a page and an agent that speaks A2A. `POST` takes `{ text, messageId?, contextId?, taskId? }`, `GET ?task=<id>` follows a task again, `DELETE ?task=<id>` cancels it. The answers are
 * event streams: `status` (states, text that grows), `progress` (what tools do), `result` (the end), `error` (the stream broke: follow the task again).
 */
export function chatProxy({ headers, ...options }: ChatProxyOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const calls = new RemoteCalls({ ...options, ...(headers ? { headers: () => headers(request) } : {}) });
    try {
      return await answer(request, calls);
    } catch (error) {
      return refusalOf(error);
    }
  };
}

async function answer(request: Request, calls: RemoteCalls): Promise<Response> {
  const { method, url, signal } = request;
  const leaving = new AbortController();
  const left = AbortSignal.any([signal, leaving.signal]);
  if (method === "POST") return eventStream(framesOf(calls, calls.stream(await messageOf(request), left), left), leaving);
  const task = idOf(new URL(url).searchParams.get("task") ?? undefined, "task");
  if (task === undefined) return refuse("`task`: name the task.", method === "GET" || method === "DELETE" ? 400 : 405);
  if (method === "DELETE") {
    await calls.cancel(task, signal);
    return new Response(null, { status: 204 });
  }
  if (method !== "GET") return refuse("Send GET, POST or DELETE.", 405);
  const found = await calls.task(task, left);
  async function* again(): AsyncGenerator<RemoteEvent | undefined, void> {
    yield { type: "task", task: found };
    if (!isAtRest(found.state)) yield* calls.subscribe(found.id, left);
  }
  return eventStream(framesOf(calls, again(), left), leaving);
}

/** Thrown for a request of a page that cannot be used. */
class Refused extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

function refuse(message: string, status = 400): never {
  throw new Refused(message, status);
}

function refusalOf(error: unknown): Response {
  if (error instanceof Refused) return Response.json({ error: error.message }, { status: error.status });
  if (!isAgentError(error)) throw error;
  return Response.json({ error: error.message }, { status: 502 });
}

async function messageOf(request: Request): Promise<RemoteMessage> {
  if (request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() !== "application/json")
    return refuse("`Content-Type`: send `application/json`.", 415);
  const { text, messageId, contextId, taskId } = await bodyOf(request);
  if (typeof text !== "string" || text.trim() === "") return refuse("`text`: send what the user has written.");
  const given = { contextId: idOf(contextId, "contextId"), taskId: idOf(taskId, "taskId") };
  return {
    messageId: idOf(messageId, "messageId") ?? crypto.randomUUID(),
    ...(given.contextId === undefined ? {} : { contextId: given.contextId }),
    ...(given.taskId === undefined ? {} : { taskId: given.taskId }),
    parts: [{ text }],
  };
}

async function bodyOf({ body }: Request): Promise<JsonObject> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    if (text.length > bodyCharsMax) return refuse(`The body has more than ${bodyCharsMax} characters.`, 413);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value as JsonObject)) return value as JsonObject;
  } catch {
    return refuse("The body is not JSON.");
  }
  return refuse("The body is no object.");
}

function idOf(value: unknown, name: string): string | undefined {
  if (value === undefined || value === "") return undefined;
  return typeof value === "string" && value.length <= idCharsMax
    ? value
    : refuse(`\`${name}\`: send a text of at most ${idCharsMax} characters.`);
}

type Frame = ChatFrame | { readonly event: "error"; readonly data: { readonly error: string; readonly taskId?: string } };

/** The frames of a task until it rests. `undefined` for a sign of life. */
async function* framesOf(
  calls: RemoteCalls,
  events: AsyncIterable<RemoteEvent | undefined>,
  signal: AbortSignal,
): AsyncGenerator<Frame | undefined, void> {
  const fold = new ChatFold();
  try {
    for await (const event of events) {
      if (event) yield* fold.take(event);
      else yield undefined;
      // The first event of a task that is continued may have the state that it had before.
      if (event?.type === "status" && isAtRest(event.state)) break;
    }
    if (fold.taskId === "") return yield fold.endOfMessage();
    const task = await calls.task(fold.taskId, signal);
    if (!isAtRest(task.state))
      throw new AgentError("EXECUTOR_FAILED", { message: "The stream of the agent ended before its task.", retryable: true });
    yield* fold.end(task);
  } catch (cause) {
    signal.throwIfAborted();
    const error = isAgentError(cause)
      ? cause
      : new AgentError("EXECUTOR_FAILED", { message: "The connection to the agent broke.", retryable: true, cause });
    // Before anything is known of a task, the refusal is the whole answer.
    if (fold.taskId === "") throw error;
    yield { event: "error", data: { error: error.message, taskId: fold.taskId } };
  }
}

/** The response, which begins with the first frame: an agent that cannot be reached is a status. */
async function eventStream(frames: AsyncGenerator<Frame | undefined, void>, leaving: AbortController): Promise<Response> {
  const encoder = new TextEncoder();
  const bytesOf = (frame: Frame | undefined): Uint8Array<ArrayBuffer> =>
    encoder.encode(frame ? `event: ${frame.event}\ndata: ${JSON.stringify(frame.data)}\n\n` : ": alive\n\n");
  const first = await frames.next();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      if (!first.done) controller.enqueue(bytesOf(first.value));
    },
    async pull(controller) {
      try {
        const { done, value } = await frames.next();
        if (done) controller.close();
        else controller.enqueue(bytesOf(value));
      } catch (error) {
        controller.error(error);
      }
    },
    cancel() {
      leaving.abort();
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" },
  });
}
