import { type JsonObject, type ModelChunk, refuseUnknownOptions } from "@loopwright/core";
import type { ModelCallIo, ModelCapabilities, ModelProvider, ModelRequest } from "@loopwright/core/ports";
import { decodeReads, modelTransport, readSse, readWholeJson } from "@loopwright/provider-kit";
import { errorOf } from "./errors.ts";
import { capabilitiesOf, defaultModel } from "./models.ts";
import { type AnthropicOptions, type Credential, credentialOf, knownOptions, vendor, vendorName } from "./options.ts";
import { betaHeaders, bodyOf } from "./request.ts";
import { chunksOf, createDecoder } from "./response.ts";
import type { WireAnswer, WireEvent } from "./wire.ts";

/** Sends one body and gives the vendor's raw answer. */
type Send = (body: JsonObject, call: { readonly signal: AbortSignal; readonly streaming: boolean }) => Promise<Response>;

interface Connection {
  readonly send: Send;
  /** What no error may show. */
  readonly secrets: readonly string[];
}

/** The longest wait that a timer takes: the driver has the deadlines, not the SDK. */
const neverMs = 2 ** 31 - 1;

/**
 * Anthropic as a model provider, on the official SDK, which is loaded with the first call.
 * @see https://platform.claude.com/docs/en/api/messages (2026-11-21)
 */
export function anthropic(options: AnthropicOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "the provider `anthropic`");
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
    const body = bodyOf(request, { ...options, capabilities: can, streaming });
    const { send, secrets } = await connected();
    // A controller of its own: the SDK leaves its listener on the signal it is given, and that one may live for a whole session.
    const call = new AbortController();
    const abort = (): void => call.abort(io.signal.reason);
    io.signal.addEventListener("abort", abort, { once: true });
    if (io.signal.aborted) abort();
    let answered = false;
    let ended = false;
    const decoder = createDecoder(secrets);
    try {
      const response = await send(body, { signal: call.signal, streaming });
      answered = true;
      if (!streaming || !response.body || isJson(response)) {
        const chunks = chunksOf((await readWholeJson(response)) as WireAnswer, secrets);
        ended = true;
        yield chunks;
        return;
      }
      yield* decodeReads(readSse(response.body), decoder, ({ data }): WireEvent | null => JSON.parse(data));
    } catch (error) {
      throw errorOf(error, { signal: io.signal, secrets, streaming: answered });
    } finally {
      io.signal.removeEventListener("abort", abort);
      if (!ended && !decoder.ended) call.abort();
    }
  }

  return { name: options.name ?? vendor, defaultModel: options.model ?? defaultModel, capabilities, stream };
}

/** Some gateways answer a streamed call in one piece. */
function isJson(response: Response): boolean {
  return response.headers.get("content-type")?.includes("json") ?? false;
}

/** An older version comes with the credential's older header: since 1.x the SDK sends a key as a bearer token, too. */
function versionHeaders(version: string | undefined, credential: Credential): Record<string, string | null> {
  if (version === undefined) return {};
  return { "anthropic-version": version, ...("apiKey" in credential ? { "x-api-key": credential.apiKey, authorization: null } : {}) };
}

async function connect(options: AnthropicOptions): Promise<Connection> {
  const credential = credentialOf(options);
  const secrets = Object.values(credential);
  const { Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({
    // Everything the constructor would else take from the environment.
    apiKey: null,
    authToken: null,
    ...credential,
    webhookKey: null,
    baseURL: options.baseURL ?? "https://api.anthropic.com",
    fetch: modelTransport(options.transport, { provider: vendorName, secrets }),
    defaultHeaders: { "x-stainless-timeout": null, ...versionHeaders(options.version, credential), ...options.headers },
    logLevel: "off",
    openTelemetry: false,
    maxRetries: 0,
    timeout: neverMs,
  });
  // `messages.create` would write warnings about old models to the console.
  const send: Send = (body, { signal, streaming }) =>
    client.post("/v1/messages", { body, signal, stream: streaming, headers: betaHeaders(body, options.headers) }).asResponse();
  return { send, secrets };
}
