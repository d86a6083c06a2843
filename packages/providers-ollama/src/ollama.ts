import type { ModelChunk } from "@loopwright/core";
import type { ModelCallIo, ModelCapabilities, ModelProvider, ModelRequest } from "@loopwright/core/ports";
import { readNdjson, streamBroken } from "@loopwright/provider-kit";
import { errorOf, statusErrorOf } from "./errors.ts";
import { capabilitiesOf, defaultModel } from "./models.ts";
import { type Connection, connectionOf, type OllamaOptions, vendor, vendorName } from "./options.ts";
import { bodyOf } from "./request.ts";
import { chunksOf, createDecoder } from "./response.ts";

/**
 * A server of Ollama as a model provider, over its own HTTP API.
 * @see https://docs.ollama.com/api/chat (2026-11-21)
 */
export function ollama(options: OllamaOptions = {}): ModelProvider {
  let connection: Connection | undefined;
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
    connection ??= connectionOf(options);
    const { baseURL, headers, secrets } = connection;
    const fetch = options.transport ?? globalThis.fetch;
    // Ends what is left of the answer when nobody wants it: the server goes on computing as long as the connection stands.
    const call = new AbortController();
    const abort = (): void => call.abort(io.signal.reason);
    io.signal.addEventListener("abort", abort, { once: true });
    let answered = false;
    let ended = false;
    try {
      const response = await fetch(`${baseURL}/api/chat`, { method: "POST", headers, body, signal: call.signal });
      if (!response.ok) throw await statusErrorOf(response, secrets);
      answered = true;
      if (!streaming || !response.body) {
        const chunks = chunksOf(JSON.parse(await response.text()));
        ended = true;
        yield chunks;
        return;
      }
      const decoder = createDecoder();
      const lines = readNdjson(response.body);
      while (!ended) {
        const read = await lines.next();
        if (read.done) throw streamBroken(vendorName, "its end (done)");
        const chunks = decoder.takeAll(read.value);
        ended = decoder.ended;
        if (ended) void drain(lines);
        if (chunks.length > 0) yield chunks;
      }
    } catch (error) {
      throw errorOf(error, { signal: io.signal, streaming: answered, baseURL });
    } finally {
      io.signal.removeEventListener("abort", abort);
      if (!ended) call.abort();
    }
  }

  return { name: options.name ?? vendor, defaultModel: options.model ?? defaultModel, capabilities, stream };
}

/** Reads what little may follow the end, so that the connection can be used again; nobody waits for it. */
async function drain(lines: AsyncIterableIterator<readonly string[]>): Promise<void> {
  try {
    const { done } = await lines.next();
    if (!done) await lines.return?.();
  } catch {
    // The answer is complete; how its connection ends does not matter.
  }
}
