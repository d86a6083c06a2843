import { type ProviderEntry, providerEntry, refuseUnknownOptions } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { createStreamingProvider, ndjson } from "@loopwright/provider-kit";
import { createDecoder } from "./chunk-decoder.ts";
import { explained, failureOf } from "./errors.ts";
import { capabilitiesOf, defaultModel } from "./models.ts";
import { connectionOf, knownOptions, type OllamaOptions, vendor, vendorName } from "./options.ts";
import { bodyOf } from "./request.ts";

/**
 * A server of Ollama as a model provider, over its own HTTP API.
 * @see https://docs.ollama.com/api/chat (2026-11-21)
 */
export const ollama: ProviderEntry<OllamaOptions> = providerEntry(createOllama);

function createOllama(options: OllamaOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "the provider `ollama`");
  const { contextTokens } = options;
  return createStreamingProvider({
    name: options.name ?? vendor,
    label: vendorName,
    defaultModel: options.model ?? defaultModel,
    transport: options.transport,
    framing: ndjson,
    capabilities: (model) => capabilitiesOf(model, { ...(contextTokens === undefined ? {} : { contextTokens }), ...options.capabilities }),
    bodyOf: (request, can) => JSON.stringify(bodyOf(request, { ...options, ...can })),
    connect: () => {
      const { baseURL, headers, secrets } = connectionOf(options);
      return {
        secrets,
        send: ({ body, signal, fetch }) => fetch(`${baseURL}/api/chat`, { method: "POST", headers, body, signal }),
        explain: (error) => explained(error, baseURL),
      };
    },
    createDecoder: ({ secrets }) => createDecoder(secrets),
    parse: (line) => JSON.parse(line),
    failureOf,
  });
}
