import type { Json, JsonObject } from "@loopwright/core";
import { nodeHttp } from "@loopwright/provider-kit/node";
import { providerUnderTest, type VendorWire, type WireFrame } from "@loopwright/provider-kit/testing";
import { modelProviderKit, runKit, type WireAnswer } from "@loopwright/testing";
import { describe, it } from "vitest";
import { anthropic } from "../src/index.ts";

const stopReasons = { stop: "end_turn", length: "max_tokens", tool_calls: "tool_use", refusal: "refusal" } as const;

interface Written {
  readonly event: JsonObject;
  readonly carries?: "text" | "arguments" | "end";
}

/** The events of one block; the vendor ends a block before it begins the next. */
function blockOf(
  index: number,
  start: JsonObject,
  deltas: readonly { readonly delta: JsonObject; readonly carries?: "text" | "arguments" }[],
): Written[] {
  return [
    { event: { type: "content_block_start", index, content_block: start } },
    ...deltas.map(({ delta, ...more }) => ({ event: { type: "content_block_delta", index, delta }, ...more })),
    { event: { type: "content_block_stop", index } },
  ];
}

function blocksOf({ thinking, text, calls = [] }: WireAnswer): Written[] {
  const blocks: Written[][] = [];
  if (thinking) {
    const pieces = thinking.pieces.map((piece) => ({ delta: { type: "thinking_delta", thinking: piece } }));
    const signature = { delta: { type: "signature_delta", signature: thinking.signature ?? "a signature" } };
    blocks.push(blockOf(blocks.length, { type: "thinking", thinking: "", signature: "" }, [...pieces, signature]));
  }
  if (text) {
    const pieces = text.map((piece) => ({ delta: { type: "text_delta", text: piece }, carries: "text" as const }));
    blocks.push(blockOf(blocks.length, { type: "text", text: "" }, pieces));
  }
  for (const { id, name, args } of calls) {
    const pieces = ["", ...args].map((piece) => ({
      delta: { type: "input_json_delta", partial_json: piece },
      ...(piece === "" ? {} : { carries: "arguments" as const }),
    }));
    blocks.push(blockOf(blocks.length, { type: "tool_use", id, name, input: {} }, pieces));
  }
  return blocks.flat();
}

function usageOf({ usage }: WireAnswer): JsonObject {
  if (!usage) return {};
  return {
    input_tokens: usage.input,
    ...(usage.cacheRead === undefined ? {} : { cache_read_input_tokens: usage.cacheRead }),
    output_tokens: usage.output,
    ...(usage.reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: usage.reasoning } }),
  };
}

function framesOf(answer: WireAnswer): readonly WireFrame[] {
  const written: readonly Written[] = [
    {
      event: {
        type: "message_start",
        message: {
          id: "msg",
          type: "message",
          role: "assistant",
          model: "claude-sonnet-4-6",
          content: [],
          usage: { ...usageOf(answer), ...(answer.usage ? { output_tokens: 1 } : {}) },
        },
      },
    },
    { event: { type: "ping" } },
    ...blocksOf(answer),
    { event: { type: "message_delta", delta: { stop_reason: stopReasons[answer.stop], stop_sequence: null }, usage: usageOf(answer) } },
    { event: { type: "message_stop" }, carries: "end" },
  ];
  return written.map(({ event, ...more }) => ({ text: `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`, ...more }));
}

function wholeOf(answer: WireAnswer): JsonObject {
  const content: Json[] = [];
  if (answer.thinking)
    content.push({ type: "thinking", thinking: answer.thinking.pieces.join(""), signature: answer.thinking.signature ?? "a signature" });
  if (answer.text) content.push({ type: "text", text: answer.text.join("") });
  for (const { id, name, args } of answer.calls ?? [])
    content.push({ type: "tool_use", id, name, input: JSON.parse(args.join("") || "{}") });
  return {
    id: "msg",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-6",
    content,
    stop_reason: stopReasons[answer.stop],
    usage: usageOf(answer),
  };
}

const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

const errorOf = (type: string, message: string): JsonObject => ({ type: "error", error: { type, message } });

/** @see https://platform.claude.com/docs/en/build-with-claude/streaming (2026-11-21) */
const wire: VendorWire = {
  contentType: "text/event-stream; charset=utf-8",
  frames: framesOf,
  whole: wholeOf,
  failure: ({ status, message, overflow }) =>
    overflow
      ? { status: 400, body: errorOf("invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum") }
      : { status, body: errorOf(types[status] ?? "api_error", message) },
  errorFrame: (message) => `event: error\ndata: ${JSON.stringify(errorOf("overloaded_error", message))}\n\n`,
};

describe.each([
  ["the global fetch", {}],
  ["node:http", { transport: nodeHttp() }],
])("the promises of a model provider, over %s", (_, transport) => {
  runKit(it, modelProviderKit, {
    make: providerUnderTest({
      wire,
      model: "claude-sonnet-4-6",
      modelWithoutReasoning: "claude-3-5-haiku-latest",
      make: (baseURL, apiKey) => anthropic({ apiKey, baseURL, ...transport }),
    }),
    lacks: [
      { capability: "text-only", reason: "all of Anthropic's models see; `capabilities: { vision: false }` is tested beside this" },
      { capability: "cache-keys", reason: "caches are marked in the body, not named by a key" },
      { capability: "body-waits", reason: "how long to wait stands in a header" },
      { capability: "trailers", reason: "the vendor sends none" },
    ],
  });
});
