import { AgentError, type JsonObject, type ModelChunk, refuseUnknownOptions } from "@loopwright/core";
import type { ModelCallIo, ModelCapabilities, ModelProvider, ModelRequest, ToolSpec } from "@loopwright/core/ports";
import { decodeReads, decodeWhole, errorFromFetch, modelTransport, readSse, readWholeJson, streamBroken } from "@loopwright/provider-kit";
import { bodyError } from "./errors.ts";
import { capabilitiesOf, defaultModel } from "./models.ts";
import { type GeminiOptions, keyOf, knownOptions, vendor, vendorName } from "./options.ts";
import { bodyOf } from "./request.ts";
import { answersOf, createDecoder, type WireAnswer } from "./response.ts";

/** Sends one body and gives the vendor's raw answer. */
type Send = (
  body: JsonObject,
  call: { readonly model: string; readonly signal: AbortSignal; readonly streaming: boolean },
) => Promise<Response>;

interface Connection {
  readonly send: Send;
  /** What no error may show. */
  readonly secrets: readonly string[];
}

/**
 * Google Gemini as a model provider, on the official SDK, which is loaded with the first call.
 * @see https://ai.google.dev/api/generate-content (2026-11-21)
 */
export function gemini(options: GeminiOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "the provider `gemini`");
  let connection: Promise<Connection> | undefined;
  const capabilities = (model: string): ModelCapabilities => capabilitiesOf(model, options.capabilities);
  const connected = (): Promise<Connection> => {
    // A failed attempt is not kept: the key may be there the next time.
    connection ??= connect(options).catch((error: unknown) => {
      connection = undefined;
      throw error;
    });
    return connection;
  };

  async function* stream(request: ModelRequest, io: ModelCallIo): AsyncIterable<readonly ModelChunk[]> {
    io.signal.throwIfAborted();
    const can = capabilities(request.model);
    const streaming = can.streaming && request.stream !== false;
    const body = bodyOf(request, { ...options, capabilities: can });
    const { send, secrets } = await connected();
    // A controller of its own: leaving the loop must close the connection, and the given signal may live for a whole session.
    const call = new AbortController();
    const abort = (): void => call.abort(io.signal.reason);
    io.signal.addEventListener("abort", abort, { once: true });
    if (io.signal.aborted) abort();
    let answered = false;
    let ended = false;
    try {
      const response = await send(body, { model: request.model, signal: call.signal, streaming });
      answered = true;
      const decoder = createDecoder(secrets, io.signal);
      if (!streaming || !response.body || isJson(response))
        yield* decodeWhole(answersOf((await readWholeJson(response)) as WireAnswer | readonly WireAnswer[]), decoder);
      else yield* decodeReads(readSse(response.body), decoder, ({ data }): WireAnswer => JSON.parse(data));
      ended = true;
    } catch (error) {
      throw errorFromFetch(error, { provider: vendorName, signal: io.signal, ...(answered ? { streaming: true } : {}) });
    } finally {
      io.signal.removeEventListener("abort", abort);
      if (!ended) call.abort();
    }
  }

  return { name: options.name ?? vendor, defaultModel: options.model ?? defaultModel, capabilities, checkTools, stream };
}

/** The vendor's names begin with a letter or an underscore. @see https://ai.google.dev/api/caching#FunctionDeclaration */
function checkTools(tools: readonly ToolSpec[]): void {
  const refused = tools.find(({ name }) => !/^[a-zA-Z_]/.test(name));
  if (!refused) return;
  throw new AgentError("CONFIG_INVALID", {
    message: `${vendorName} does not take the tool \`${refused.name}\`: its name begins with neither a letter nor an underscore.`,
    fix: "Rename the tool.",
    details: { tool: refused.name },
  });
}

/** Some gateways answer a streamed call in one piece. */
function isJson(response: Response): boolean {
  return response.headers.get("content-type")?.includes("json") ?? false;
}

async function connect(options: GeminiOptions): Promise<Connection> {
  const apiKey = keyOf(options);
  const { GoogleGenAI } = await import("@google/genai");
  const secrets = [apiKey];
  const transport = modelTransport(options.transport, { provider: vendorName, secrets });
  const client = quietly(
    () =>
      new GoogleGenAI({
        // Everything the constructor would else take from the environment.
        apiKey,
        vertexai: false,
        httpOptions: {
          baseUrl: options.baseURL ?? "https://generativelanguage.googleapis.com",
          apiVersion: options.apiVersion ?? "v1beta",
          headers: { ...options.headers },
        },
      }),
  );
  // The SDK makes address, headers and authentication. Its own stream parses each event twice and wraps it into a Response, and
  // it rewrites the whole history for each request: so the body goes through `extraBody`, untouched, and the answer is taken
  // where it comes in, in the transport.
  const send: Send = async (body, { model, signal, streaming }) => {
    let answer: Response | undefined;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const response = await transport(input, { ...init, signal });
      if (!response.ok) {
        const { status, headers } = response;
        throw bodyError(await response.text(), { status, headers, secrets });
      }
      answer = response;
      return new Response("{}");
    };
    const parameters = {
      model,
      contents: "-",
      config: {
        automaticFunctionCalling: { disable: true },
        // Else the SDK would send further requests by itself.
        automaticContinuation: false,
        httpOptions: { extraBody: { ...body }, fetch },
      },
    };
    await (streaming ? client.models.generateContentStream(parameters) : client.models.generateContent(parameters));
    if (!answer) throw streamBroken(vendorName, "an answer");
    return answer;
  };
  return { send, secrets };
}

/** The SDK's constructor warns of two keys in the environment even when it is given one, and names the wrong one as used. */
function quietly<T>(make: () => T): T {
  const { warn } = console;
  console.warn = () => {};
  try {
    return make();
  } finally {
    console.warn = warn;
  }
}
