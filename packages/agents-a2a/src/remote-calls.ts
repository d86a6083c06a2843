/*
 * Owns: requests of A2A 1.0 to one remote agent: its card, JSON-RPC, event streams.
 *
 * I1 The address comes from the card, and its origin is that of the card: a card cannot send requests elsewhere. I2 Redirects are refused, sizes are limited. I3 An
 * error names neither the headers nor the message.
 */
import { AgentError, type Json, type JsonObject } from "@loopwright/core";
import { isObject, type RemoteEvent, type RemoteTask, readRemoteEvent, readRemoteTask } from "./remote-task.ts";

export interface RemoteCallsOptions {
  /** Address of the agent's card. */
  readonly card: string;
  /** Headers of every request: a token, for example. Asked for each request. */
  readonly headers?: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Default: that of the runtime. */
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>;
}

/** Longest answer and longest event, in characters. */
const answerCharsMax: number = 4 * 1024 * 1024;

/** A message for a remote agent. */
export interface RemoteMessage {
  readonly messageId: string;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly parts: readonly JsonObject[];
}

/** What a remote agent answered to a message: a task, or its whole answer. */
export type RemoteAnswer = { readonly task: RemoteTask } | { readonly text: string };

export class RemoteCalls {
  readonly #options: RemoteCallsOptions;
  #address: Promise<string> | undefined;

  constructor(options: RemoteCallsOptions) {
    this.#options = options;
  }

  /** Sends a message without waiting for what follows. */
  async send(message: RemoteMessage, signal?: AbortSignal): Promise<RemoteAnswer> {
    const configuration = { returnImmediately: true, acceptedOutputModes: ["text/plain"] };
    const result = await this.#call("SendMessage", { message: { role: "ROLE_USER", ...message }, configuration }, signal);
    const task = readRemoteTask(result["task"]);
    if (task) return { task };
    const event = readRemoteEvent(result);
    if (event?.type === "text") return { text: event.text };
    throw failed("The remote agent answered with neither a task nor a message.");
  }

  /** @throws AgentError EXECUTOR_FAILED */
  async task(id: string, signal?: AbortSignal): Promise<RemoteTask> {
    return readRemoteTask(await this.#call("GetTask", { id }, signal)) ?? fail("The remote agent answered with no task.");
  }

  async cancel(id: string, signal?: AbortSignal): Promise<void> {
    await this.#call("CancelTask", { id }, signal);
  }

  /** The task and what follows; `undefined` for a sign of life. @throws AgentError EXECUTOR_FAILED */
  async *subscribe(id: string, signal: AbortSignal): AsyncGenerator<RemoteEvent | undefined, void> {
    const response = await this.#post("SubscribeToTask", { id }, { accept: "text/event-stream", signal });
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      resultOf(await readText(response));
      throw failed("The remote agent answered with no event stream.");
    }
    for await (const frame of framesOf(response)) {
      if (frame === "") yield undefined;
      else yield readRemoteEvent(resultOf(frame));
    }
  }

  async #call(method: string, params: object, signal: AbortSignal | undefined): Promise<JsonObject> {
    return resultOf(await readText(await this.#post(method, params, { accept: "application/json", signal })));
  }

  async #post(
    method: string,
    params: object,
    { accept, signal }: { readonly accept: string; readonly signal: AbortSignal | undefined },
  ): Promise<Response> {
    this.#address ??= this.#readCard(signal);
    const address = await this.#address.catch((error: unknown) => {
      this.#address = undefined;
      throw error;
    });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    return this.#fetch(address, { method: "POST", body, ...(signal ? { signal } : {}) }, { accept, "content-type": "application/json" });
  }

  async #fetch(address: string, init: RequestInit, more: Readonly<Record<string, string>>): Promise<Response> {
    const { fetch: send = fetch, headers } = this.#options;
    const all = { ...(await headers?.()), "a2a-version": "1.0", ...more };
    try {
      return await send(address, { ...init, headers: all, redirect: "error" });
    } catch (cause) {
      if (init.signal?.aborted) throw init.signal.reason;
      throw new AgentError("EXECUTOR_FAILED", {
        message: `The remote agent at ${new URL(address).origin} cannot be reached.`,
        retryable: true,
        cause,
      });
    }
  }

  async #readCard(signal: AbortSignal | undefined): Promise<string> {
    const { card } = this.#options;
    const response = await this.#fetch(card, signal ? { signal } : {}, { accept: "application/json" });
    if (!response.ok) throw failed(`The card of the remote agent cannot be read: status ${response.status}.`, response.status >= 500);
    const { supportedInterfaces } = parsed(await readText(response));
    const all = Array.isArray(supportedInterfaces) ? supportedInterfaces.filter(isObject) : [];
    const found = all.find(({ protocolBinding, protocolVersion }) => protocolBinding === "JSONRPC" && protocolVersion === "1.0")?.["url"];
    if (typeof found !== "string") throw failed("The card of the remote agent has no interface of JSON-RPC in version 1.0.");
    const url = URL.canParse(found, card) ? new URL(found, card) : undefined;
    if (url?.origin !== new URL(card).origin) throw failed("The card of the remote agent names an address at another origin than its own.");
    return url.href;
  }
}

const failed = (message: string, retryable = false): AgentError => new AgentError("EXECUTOR_FAILED", { message, retryable });

function fail(message: string): never {
  throw failed(message);
}

function parsed(text: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return fail("The remote agent answered with no JSON.");
  }
  return isObject(value) ? value : fail("The remote agent answered with no object.");
}

/** The result of an answer. @throws AgentError EXECUTOR_FAILED with the code of its error */
function resultOf(text: string): JsonObject {
  const { result, error } = parsed(text);
  if (isObject(result)) return result;
  const { code } = isObject(error) ? error : {};
  return fail(`The remote agent refused the request${typeof code === "number" ? `: code ${code}` : ""}.`);
}

async function readText(response: Response): Promise<string> {
  let text = "";
  for await (const piece of piecesOf(response)) {
    text += piece;
    if (text.length > answerCharsMax) throw failed(`The remote agent answered with more than ${answerCharsMax} characters.`);
  }
  if (response.status >= 500 && !text.startsWith("{")) throw failed(`The remote agent answered with status ${response.status}.`, true);
  return text;
}

/** The data of each event; empty for a comment. */
async function* framesOf(response: Response): AsyncGenerator<string, void> {
  let rest = "";
  for await (const piece of piecesOf(response)) {
    const frames = (rest + piece.replaceAll("\r\n", "\n")).split("\n\n");
    rest = frames.pop() ?? "";
    if (rest.length > answerCharsMax) throw failed(`The remote agent sent an event of more than ${answerCharsMax} characters.`);
    for (const frame of frames) {
      const lines = frame.split("\n").filter((line) => line.startsWith("data:"));
      yield lines.map((line) => line.slice("data:".length).trim()).join("\n");
    }
  }
}

async function* piecesOf({ body }: Response): AsyncGenerator<string, void> {
  if (!body) return;
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield decoder.decode(read.value, { stream: true });
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
