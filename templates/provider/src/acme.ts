import { type ProviderEntry, providerEntry, refuseUnknownOptions } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { createStreamingProvider, sse } from "@loopwright/provider-kit";
import { type AcmeEvent, createDecoder } from "./chunk-decoder.ts";
import { failureOf } from "./errors.ts";
import { capabilitiesOf, defaultModel } from "./models.ts";
import { type AcmeOptions, keyOf, knownOptions, vendor, vendorName } from "./options.ts";
import { bodyOf } from "./request.ts";

/** Acme as a model provider: `acme(options)`, or one of its models: `acme("acme-2", options)`. Nothing is read or sent before the first call. */
export const acme: ProviderEntry<AcmeOptions> = providerEntry(createAcme);

function createAcme(options: AcmeOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "the provider `acme`");
  const baseURL = (options.baseURL ?? "https://api.acme.example").replace(/\/+$/, "");
  return createStreamingProvider({
    name: vendor,
    label: vendorName,
    defaultModel: options.model ?? defaultModel,
    transport: options.transport,
    framing: sse,
    capabilities: capabilitiesOf,
    bodyOf: (request) => JSON.stringify(bodyOf(request)),
    connect: () => {
      const key = keyOf(options);
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...options.headers };
      return {
        secrets: [key],
        send: ({ body, signal, fetch }) => fetch(`${baseURL}/v1/chat`, { method: "POST", headers, body, signal }),
      };
    },
    createDecoder: ({ secrets }) => createDecoder(secrets),
    parse: ({ data }): AcmeEvent => JSON.parse(data),
    failureOf,
  });
}
