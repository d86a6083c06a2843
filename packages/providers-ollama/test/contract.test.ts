import type { JsonObject } from "@loopwright/core";
import { nodeHttp } from "@loopwright/provider-kit/node";
import { providerUnderTest, type VendorWire, type WireFrame } from "@loopwright/provider-kit/testing";
import { modelProviderKit, runKit, type WireAnswer } from "@loopwright/testing";
import { describe, it } from "vitest";
import { ollama } from "../src/index.ts";

const head = { model: "qwen3:4b", created_at: "2026-11-21T08:00:00Z" };

function messageOf(more: JsonObject): JsonObject {
  return { ...head, message: { role: "assistant", content: "", ...more }, done: false };
}

/** Calls come whole, with their arguments as a value. */
function callsOf({ calls = [] }: WireAnswer): readonly JsonObject[] {
  return calls.map(({ id, name, args }, index) => ({ id, function: { index, name, arguments: JSON.parse(args.join("") || "{}") } }));
}

function endOf({ usage, stop }: WireAnswer): JsonObject {
  return {
    done: true,
    done_reason: stop === "length" ? "length" : "stop",
    total_duration: 9,
    ...(usage ? { prompt_eval_count: usage.input, eval_count: usage.output } : {}),
  };
}

function framesOf(answer: WireAnswer): readonly WireFrame[] {
  const line = (value: JsonObject): string => `${JSON.stringify(value)}\n`;
  return [
    ...(answer.thinking?.pieces ?? []).map((thinking) => ({ text: line(messageOf({ thinking })) })),
    ...(answer.text ?? []).map((content) => ({ text: line(messageOf({ content })), carries: "text" as const })),
    ...callsOf(answer).map((call) => ({ text: line(messageOf({ tool_calls: [call] })), carries: "arguments" as const })),
    { text: line({ ...messageOf({}), ...endOf(answer) }), carries: "end" },
  ];
}

function wholeOf(answer: WireAnswer): JsonObject {
  const calls = callsOf(answer);
  const message = messageOf({
    content: answer.text?.join("") ?? "",
    ...(answer.thinking ? { thinking: answer.thinking.pieces.join("") } : {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  });
  return { ...message, ...endOf(answer) };
}

/** @see https://docs.ollama.com/api/streaming (2026-11-21) */
const wire: VendorWire = {
  contentType: "application/x-ndjson",
  frames: framesOf,
  whole: wholeOf,
  failure: ({ status, message, overflow }) => ({
    status: overflow ? 400 : status,
    body: { error: overflow ? "the input length exceeds the context length" : message },
  }),
  errorFrame: (message) => `${JSON.stringify({ error: message })}\n`,
};

describe.each([
  ["the global fetch", {}],
  ["node:http", { transport: nodeHttp() }],
])("the promises of a model provider, over %s", (_, transport) => {
  runKit(it, modelProviderKit, {
    make: providerUnderTest({
      wire,
      model: "gemma4:12b",
      modelWithoutVision: "qwen3:4b",
      modelWithoutReasoning: "gemma3:12b",
      make: (baseURL, apiKey) => ollama({ apiKey, baseURL, ...transport }),
    }),
    lacks: [
      { capability: "opaque", reason: "thinking has no signature" },
      { capability: "refusal", reason: "the server has no word for one" },
      { capability: "cache-usage", reason: "cached tokens are not told apart" },
      { capability: "raw-arguments", reason: "arguments come as a value" },
      { capability: "cache-keys", reason: "the server caches by itself" },
      { capability: "body-waits", reason: "the server names no wait" },
      { capability: "trailers", reason: "the server sends none" },
    ],
  });
});
