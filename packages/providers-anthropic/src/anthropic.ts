import { type JsonObject, type ProviderEntry, providerEntry, refuseUnknownOptions } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { createStreamingProvider, sse, type VendorConnection } from "@loopwright/provider-kit";
import { createDecoder } from "./chunk-decoder.ts";
import { failureOf } from "./errors.ts";
import { capabilitiesOf, defaultModel } from "./models.ts";
import { type AnthropicOptions, type Credential, credentialOf, knownOptions, vendor, vendorName } from "./options.ts";
import { betaHeaders, bodyOf } from "./request.ts";
import type { WireEvent } from "./wire.ts";

/**
 * Anthropic as a model provider, on the official SDK, which is loaded with the first call and builds the requests.
 * @see https://platform.claude.com/docs/en/api/messages (2026-11-21)
 */
export const anthropic: ProviderEntry<AnthropicOptions> = providerEntry(createAnthropic);

function createAnthropic(options: AnthropicOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "the provider `anthropic`");
  return createStreamingProvider({
    name: options.name ?? vendor,
    label: vendorName,
    defaultModel: options.model ?? defaultModel,
    transport: options.transport,
    framing: sse,
    capabilities: (model) => capabilitiesOf(model, options.capabilities),
    bodyOf: (request, can) => bodyOf(request, { ...options, ...can }),
    connect: () => connect(options),
    createDecoder: ({ secrets }) => createDecoder(secrets),
    parse: ({ data }): WireEvent | null => JSON.parse(data),
    failureOf,
  });
}

/** An older version comes with the credential's older header: since 1.x the SDK sends a key as a bearer token, too. */
function versionHeaders(version: string | undefined, credential: Credential): Record<string, string | null> {
  if (version === undefined) return {};
  return { "anthropic-version": version, ...("apiKey" in credential ? { "x-api-key": credential.apiKey, authorization: null } : {}) };
}

async function connect(options: AnthropicOptions): Promise<VendorConnection<JsonObject>> {
  const credential = credentialOf(options);
  const { Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({
    // Everything the constructor would else take from the environment.
    apiKey: null,
    authToken: null,
    ...credential,
    webhookKey: null,
    baseURL: options.baseURL ?? "https://api.anthropic.com",
    defaultHeaders: { "x-stainless-timeout": null, ...versionHeaders(options.version, credential), ...options.headers },
    logLevel: "off",
    openTelemetry: false,
  });
  return {
    secrets: Object.values(credential),
    send: async ({ body, streaming, signal, fetch }) => {
      const headers = betaHeaders(body, options.headers);
      const { url, req } = await client.buildRequest({ method: "post", path: "/v1/messages", body, stream: streaming, headers });
      return await fetch(url, { ...req, signal });
    },
  };
}
