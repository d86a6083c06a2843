import type { JsonObject } from "@loopwright/core";
import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";
import { anthropic } from "@loopwright/providers-anthropic";
import { gemini } from "@loopwright/providers-gemini";
import { ollama } from "@loopwright/providers-ollama";
import { openai } from "@loopwright/providers-openai";
import { expect } from "vitest";
import { violationsOf as ofAnthropic } from "../../../packages/providers-anthropic/test/strict-rules.ts";
import { violationsOf as ofGemini } from "../../../packages/providers-gemini/test/strict-rules.ts";
import { violationsOf as ofOllama } from "../../../packages/providers-ollama/test/strict-rules.ts";
import { violationsOf as ofOpenAi } from "../../../packages/providers-openai/test/strict-rules.ts";
import { MarkerCache, PrefixCache } from "./vendor-cache.ts";

/* Every vendor with the rules that its requests must keep. */

type Transport = typeof globalThis.fetch;

export interface Vendor {
  readonly name: string;
  readonly model: string;
  readonly make: (transport: Transport) => ModelProvider;
  readonly violationsOf: (body: JsonObject) => readonly string[];
  readonly cache: () => MarkerCache | PrefixCache;
}

const prefixes = (): PrefixCache => new PrefixCache();
export const vendors: readonly Vendor[] = [
  {
    name: "Anthropic",
    model: "claude-sonnet-4-6",
    make: (transport) => anthropic({ apiKey: "test", transport }),
    violationsOf: ofAnthropic,
    cache: () => new MarkerCache(),
  },
  {
    name: "OpenAI",
    model: "gpt-5",
    make: (transport) => openai({ apiKey: "test", transport, api: "responses" }),
    violationsOf: ofOpenAi,
    cache: prefixes,
  },
  {
    name: "OpenAI's older interface",
    model: "gpt-4.1",
    make: (transport) => openai({ apiKey: "test", transport, api: "chat" }),
    violationsOf: ofOpenAi,
    cache: prefixes,
  },
  {
    name: "Gemini",
    model: "gemini-2.5-flash",
    make: (transport) => gemini({ apiKey: "test", transport }),
    violationsOf: (body) => ofGemini(body),
    cache: prefixes,
  },
  {
    name: "Ollama",
    model: "qwen3",
    make: (transport) => ollama({ transport }),
    violationsOf: ofOllama,
    cache: prefixes,
  },
];

/** Gives the bodies of the requests as the provider would send them. No request leaves the process. */
export function bodiesOf({ make, model }: Vendor): (request: ModelRequest) => Promise<JsonObject> {
  let body: JsonObject | undefined;
  const provider = make(async (_, init) => {
    body = JSON.parse(String(init?.body)) as JsonObject;
    throw new TypeError("The body is known.");
  });
  return async (request) => {
    body = undefined;
    const stream = provider.stream({ ...request, model }, { signal: AbortSignal.timeout(60_000), attempt: 1 });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow();
    if (!body) throw new Error(`${provider.name} sent nothing.`);
    return body;
  };
}
