import { type ModelChunk, refuseUnknownOptions } from "@loopwright/core";
import type { ModelCallIo, ModelCapabilities, ModelProvider, ModelRequest } from "@loopwright/core/ports";
import { decodeReads, decodeWhole, modelTransport, readNdjson, readWholeJson, streamBroken } from "@loopwright/provider-kit";
import { errorOf, statusErrorOf } from "./errors.ts";
import { capabilitiesOf, defaultModel } from "./models.ts";
import { type Connection, connectionOf, knownOptions, type OllamaOptions, vendor, vendorName } from "./options.ts";
import { bodyOf } from "./request.ts";
import { createDecoder, type WireLine } from "./response.ts";

/**
 * A server of Ollama as a model provider, over its own HTTP API.
 * @see https://docs.ollama.com/api/chat (2026-11-21)
 */
export function ollama(options: OllamaOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "the provider `ollama`");
  let connection: ReturnType<typeof connect> | undefined;
  const capabilities = (model: string): ModelCapabilities =>
    capabilitiesOf(model, {
      ...(options.contextTokens === undefined ? {} : { contextTokens: options.contextTokens }),
      ...options.capabilities,
    });

  async function* stream(request: ModelRequest, io: ModelCallIo): AsyncIterable<readonly ModelChunk[]> {
    io.signal.throwIfAborted();
    const can = capabilities(request.model);
    const streaming = can.streaming && request.stream !== false;
    const body = JSON.stringify(bodyOf(request, { ...options, capabilities: can, streaming }));
    connection ??= connect(options);
    const { baseURL, headers, secrets, fetch } = connection;
    // Ends what is left of the answer when nobody wants it: the server goes on computing as long as the connection stands.
    const call = new AbortController();
    const abort = (): void => call.abort(io.signal.reason);
    io.signal.addEventListener("abort", abort, { once: true });
    let answered = false;
    const isWhole = !streaming;
    const decoder = createDecoder({ isWhole, secrets });
    try {
      const response = await fetch(`${baseURL}/api/chat`, { method: "POST", headers, body, signal: call.signal });
      if (!response.ok) throw await statusErrorOf(response, secrets);
      answered = true;
      if (!response.body) throw streamBroken(vendorName, "a body");
      if (isWhole) yield* decodeWhole([(await readWholeJson(response)) as WireLine], decoder);
      else yield* decodeReads(readNdjson(response.body), decoder, (line) => JSON.parse(line));
    } catch (error) {
      throw errorOf(error, { signal: io.signal, streaming: answered, baseURL });
    } finally {
      io.signal.removeEventListener("abort", abort);
      if (!decoder.ended) call.abort();
    }
  }

  return { name: options.name ?? vendor, defaultModel: options.model ?? defaultModel, capabilities, stream };
}

function connect(options: OllamaOptions): Connection & { readonly fetch: typeof globalThis.fetch } {
  const connection = connectionOf(options);
  return { ...connection, fetch: modelTransport(options.transport, { provider: vendorName, secrets: connection.secrets }) };
}
