import { AgentError, type JsonObject, type ProviderEntry, providerEntry, refuseUnknownOptions } from "@loopwright/core";
import type { ModelProvider, ToolSpec } from "@loopwright/core/ports";
import { createStreamingProvider, sse, streamBroken, type VendorConnection } from "@loopwright/provider-kit";
import { createDecoder, type WireAnswer } from "./chunk-decoder.ts";
import { failureOf } from "./errors.ts";
import { capabilitiesOf, defaultModel } from "./models.ts";
import { type GeminiOptions, keyOf, knownOptions, vendor, vendorName } from "./options.ts";
import { bodyOf } from "./request.ts";

/**
 * Google Gemini as a model provider, on the official SDK, which is loaded with the first call.
 * @see https://ai.google.dev/api/generate-content (2026-11-21)
 */
export const gemini: ProviderEntry<GeminiOptions> = providerEntry(createGemini);

function createGemini(options: GeminiOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "the provider `gemini`");
  return createStreamingProvider({
    name: options.name ?? vendor,
    label: vendorName,
    defaultModel: options.model ?? defaultModel,
    transport: options.transport,
    framing: sse,
    capabilities: (model) => capabilitiesOf(model, options.capabilities),
    checkTools,
    bodyOf: (request, { capabilities }) => bodyOf(request, { ...options, capabilities }),
    connect: () => connect(options),
    createDecoder: ({ secrets }) => createDecoder(secrets),
    parse: ({ data }): WireAnswer => JSON.parse(data),
    failureOf,
  });
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

async function connect(options: GeminiOptions): Promise<VendorConnection<JsonObject>> {
  const apiKey = keyOf(options);
  const { GoogleGenAI } = await import("@google/genai");
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
  const send: VendorConnection<JsonObject>["send"] = async ({ request, body, streaming, signal, fetch }) => {
    let answer: Response | undefined;
    const taking: typeof globalThis.fetch = async (input, init) => {
      answer = await fetch(input, { ...init, signal });
      return new Response("{}");
    };
    const parameters = {
      model: request.model,
      contents: "-",
      config: {
        automaticFunctionCalling: { disable: true },
        // Else the SDK would send further requests by itself.
        automaticContinuation: false,
        httpOptions: { extraBody: { ...body }, fetch: taking },
      },
    };
    await (streaming ? client.models.generateContentStream(parameters) : client.models.generateContent(parameters));
    if (!answer) throw streamBroken(vendorName, "an answer");
    return answer;
  };
  return { secrets: [apiKey], send };
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
