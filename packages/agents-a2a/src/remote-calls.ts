/*
 * Owns: requests of A2A 1.0, or 0.3, to one remote agent: its card, JSON-RPC, event streams.
 *
 * I1 The address comes from the card, and its origin is that of the card: a card cannot send requests elsewhere. I2 Redirects are refused, sizes are limited. I3 An
 * error names neither the headers nor the message.
 */
import { AgentError, type Json, type JsonObject } from "@loopwright/core";
import { legacyRequest, modernResult } from "./legacy-wire.ts";
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

/** Where the requests go, and how the agent speaks. */
interface RemotePlace {
  readonly address: string;
  /** It knows 0.3 alone. */
  readonly isLegacy: boolean;
  readonly streams: boolean;
}

export class RemoteCalls {
  readonly #options: RemoteCallsOptions;
  #place: Promise<RemotePlace> | undefined;

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
    const result = await this.#call("GetTask", { id }, signal);
    return readRemoteTask(result["task"] ?? result) ?? fail("The remote agent answered with no task.");
  }

  async cancel(id: string, signal?: AbortSignal): Promise<void> {
    await this.#call("CancelTask", { id }, signal);
  }

  /** Sends a message, and gives what follows; `undefined` for a sign of life. An agent without streams gives its task at the end. @throws AgentError EXECUTOR_FAILED */
  async *stream(message: RemoteMessage, signal: AbortSignal): AsyncGenerator<RemoteEvent | undefined, void> {
    const params = { message: { role: "ROLE_USER", ...message }, configuration: { acceptedOutputModes: ["text/plain"] } };
    if ((await this.#known(signal)).streams) yield* this.#events("SendStreamingMessage", params, signal);
    else yield readRemoteEvent(await this.#call("SendMessage", params, signal));
  }

  /** The task and what follows; `undefined` for a sign of life. @throws AgentError EXECUTOR_FAILED */
  subscribe(id: string, signal: AbortSignal): AsyncGenerator<RemoteEvent | undefined, void> {
    return this.#events("SubscribeToTask", { id }, signal);
  }

  async *#events(method: string, params: JsonObject, signal: AbortSignal): AsyncGenerator<RemoteEvent | undefined, void> {
    const response = await this.#post(method, params, { accept: "text/event-stream", signal });
    const { isLegacy } = await this.#known(signal);
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      resultOf(await readText(response), isLegacy);
      throw failed("The remote agent answered with no event stream.");
    }
    for await (const frame of framesOf(response)) {
      if (frame === "") yield undefined;
      else yield readRemoteEvent(resultOf(frame, isLegacy));
    }
  }

  async #call(method: string, params: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject> {
    const text = await readText(await this.#post(method, params, { accept: "application/json", signal }));
    return resultOf(text, (await this.#known(signal)).isLegacy);
  }

  /** The card is read once, and again where that failed. */
  #known(signal: AbortSignal | undefined): Promise<RemotePlace> {
    this.#place ??= this.#readCard(signal);
    return this.#place.catch((error: unknown) => {
      this.#place = undefined;
      throw error;
    });
  }

  async #post(
    method: string,
    params: JsonObject,
    { accept, signal }: { readonly accept: string; readonly signal: AbortSignal | undefined },
  ): Promise<Response> {
    const { address, isLegacy } = await this.#known(signal);
    const request = isLegacy ? legacyRequest(method, params) : { method, params };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...request });
    const more = { accept, "content-type": "application/json", ...(isLegacy ? { "a2a-version": "0.3" } : {}) };
    return this.#fetch(address, { method: "POST", body, ...(signal ? { signal } : {}) }, more);
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

  async #readCard(signal: AbortSignal | undefined): Promise<RemotePlace> {
    const { card } = this.#options;
    const response = await this.#fetch(card, signal ? { signal } : {}, { accept: "application/json" });
    if (!response.ok) throw failed(`The card of the remote agent cannot be read: status ${response.status}.`, response.status >= 500);
    const read = parsed(await readText(response));
    const current = interfaceOf(read, /^1\.0(\.\d+)?$/);
    const found = current ?? legacyAddress(read);
    if (found === undefined) throw failed("The card of the remote agent has no interface of JSON-RPC in version 1.0 or 0.3.");
    const url = URL.canParse(found, card) ? new URL(found, card) : undefined;
    if (url?.origin !== new URL(card).origin) throw failed("The card of the remote agent names an address at another origin than its own.");
    const { capabilities } = read;
    return {
      address: url.href,
      isLegacy: current === undefined,
      streams: isObject(capabilities) && capabilities["streaming"] === true,
    };
  }
}

const listOf = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const addressIn = (found: JsonObject | undefined): string | undefined => {
  const { url } = found ?? {};
  return typeof url === "string" ? url : undefined;
};

const interfaceOf = ({ supportedInterfaces }: JsonObject, version: RegExp): string | undefined =>
  addressIn(
    listOf(supportedInterfaces).find(
      ({ protocolBinding, protocolVersion }) => protocolBinding === "JSONRPC" && version.test(String(protocolVersion)),
    ),
  );

const legacyVersion = /^0\.3(\.\d+)?$/;

/** A card of 0.3 has its address at the top, and others beside it. */
function legacyAddress(card: JsonObject): string | undefined {
  const { protocolVersion, preferredTransport = "JSONRPC", additionalInterfaces } = card;
  if (!legacyVersion.test(String(protocolVersion))) return interfaceOf(card, legacyVersion);
  return addressIn(preferredTransport === "JSONRPC" ? card : listOf(additionalInterfaces).find(({ transport }) => transport === "JSONRPC"));
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
function resultOf(text: string, isLegacy: boolean): JsonObject {
  const { result, error } = parsed(text);
  if (isObject(result)) return isLegacy ? modernResult(result) : result;
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
