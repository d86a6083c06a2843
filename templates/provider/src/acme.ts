import { type ModelChunk, refuseUnknownOptions } from "@loopwright/core";
import type { ModelCallIo, ModelProvider, ModelRequest } from "@loopwright/core/ports";
import {
  decodeReads,
  decodeWhole,
  errorFromFetch,
  errorFromStatus,
  modelTransport,
  readSse,
  readWholeJson,
  streamBroken,
  vendorErrorOf,
} from "@loopwright/provider-kit";
import { capabilitiesOf, defaultModel } from "./models.ts";
import { type AcmeOptions, keyOf, knownOptions, vendor, vendorName } from "./options.ts";
import { bodyOf } from "./request.ts";
import { type AcmeEvent, createDecoder } from "./response.ts";

/** Acme as a model provider. Nothing is read or sent before the first call. */
export function acme(options: AcmeOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "the provider `acme`");
  const baseURL = (options.baseURL ?? "https://api.acme.example").replace(/\/+$/, "");
  let fetch: typeof globalThis.fetch | undefined;

  async function* stream(request: ModelRequest, { signal }: ModelCallIo): AsyncGenerator<readonly ModelChunk[]> {
    signal.throwIfAborted();
    const key = keyOf(options);
    const body = JSON.stringify(bodyOf(request));
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...options.headers };
    let streaming = false;
    try {
      fetch ??= modelTransport(options.transport, { provider: vendorName, secrets: [key] });
      const response = await fetch(`${baseURL}/v1/chat`, { method: "POST", headers, body, signal });
      if (!response.ok) throw await failureOf(response, key);
      streaming = true;
      yield* request.stream === false ? readWhole(response, key) : readStream(response, key);
    } catch (error) {
      throw errorFromFetch(error, { provider: vendorName, signal, ...(streaming ? { streaming } : {}) });
    }
  }

  return { name: vendor, defaultModel: options.model ?? defaultModel, capabilities: capabilitiesOf, stream };
}

/** The chunks of a streamed answer. `readSse` closes the connection when the consumer leaves. */
function readStream(response: Response, key: string): AsyncIterable<readonly ModelChunk[]> {
  if (!response.body) throw streamBroken(vendorName, "a body");
  return decodeReads(readSse(response.body), createDecoder([key]), ({ data }) => JSON.parse(data) as AcmeEvent);
}

/** Unstreamed, Acme answers with the same events as one list. */
async function* readWhole(response: Response, key: string): AsyncGenerator<readonly ModelChunk[]> {
  const { events } = (await readWholeJson(response)) as { readonly events: readonly AcmeEvent[] };
  yield* decodeWhole(events, createDecoder([key]));
}

async function failureOf(response: Response, key: string): Promise<Error> {
  const { status, headers } = response;
  const text = await response.text();
  return errorFromStatus({ provider: vendorName, ...vendorErrorOf(text), ...waitIn(text), status, headers, secrets: [key] });
}

/** How long Acme asks to wait: not in a header, but beside the sentence of the error. */
function waitIn(text: string): { readonly retryAfterMs?: number } {
  const wait = /"retry_ms": ?(\d{1,9})/.exec(text)?.[1];
  return wait === undefined ? {} : { retryAfterMs: Number(wait) };
}
