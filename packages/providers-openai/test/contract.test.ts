import type { JsonObject } from "@loopwright/core";
import { providerUnderTest, type VendorWire, type WireFrame } from "@loopwright/provider-kit/testing";
import { modelProviderKit, runKit, type WireAnswer } from "@loopwright/testing";
import { describe, it } from "vitest";
import { openai, otherServer } from "../src/index.ts";

/** One list of the pieces of every call: one call after the other, or in turns. */
function piecesOf({ calls = [], interleaved = false }: WireAnswer): readonly { readonly call: number; readonly piece: string }[] {
  const all = calls.flatMap(({ args }, call) => args.map((piece, at) => ({ call, piece, at })));
  return interleaved ? all.sort((a, b) => a.at - b.at || a.call - b.call) : all;
}

const frame = (event: JsonObject, carries?: WireFrame["carries"]): WireFrame => ({
  text: `data: ${JSON.stringify(event)}\n\n`,
  ...(carries === undefined ? {} : { carries }),
});

const chatReasons = { stop: "stop", length: "length", tool_calls: "tool_calls", refusal: "content_filter" } as const;

function chatUsageOf({ usage }: WireAnswer): JsonObject {
  if (!usage) return {};
  const { input, cacheRead, output, reasoning } = usage;
  return {
    usage: {
      prompt_tokens: input + (cacheRead ?? 0),
      completion_tokens: output,
      ...(cacheRead === undefined ? {} : { prompt_tokens_details: { cached_tokens: cacheRead } }),
      ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
    },
  };
}

function detailsOf(text: string, signature: string | undefined): JsonObject {
  return { type: "reasoning.text", index: 0, text, ...(signature === undefined ? {} : { signature }) };
}

function chatFramesOf(answer: WireAnswer): readonly WireFrame[] {
  const chunk = (delta: JsonObject, finishReason: string | null = null): JsonObject => ({
    id: "c",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const { thinking, text = [], calls = [] } = answer;
  return [
    frame(chunk({ role: "assistant", content: "" })),
    ...(thinking?.pieces ?? []).map((piece) => frame(chunk({ reasoning: piece, reasoning_details: [detailsOf(piece, undefined)] }))),
    ...(thinking?.signature === undefined ? [] : [frame(chunk({ reasoning_details: [detailsOf("", thinking.signature)] }))]),
    ...text.map((content) => frame(chunk({ content }), "text")),
    ...calls.map(({ id, name }, index) =>
      frame(chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] })),
    ),
    ...piecesOf(answer).map(({ call, piece }) =>
      frame(chunk({ tool_calls: [{ index: call, function: { arguments: piece } }] }), "arguments"),
    ),
    frame(chunk({}, chatReasons[answer.stop]), "end"),
    ...(answer.usage ? [frame({ id: "c", choices: [], ...chatUsageOf(answer) })] : []),
    { text: "data: [DONE]\n\n" },
  ];
}

function chatWholeOf(answer: WireAnswer): JsonObject {
  const { thinking, text, calls } = answer;
  const message = {
    role: "assistant",
    content: text?.join("") ?? null,
    ...(thinking
      ? { reasoning: thinking.pieces.join(""), reasoning_details: [detailsOf(thinking.pieces.join(""), thinking.signature)] }
      : {}),
    ...(calls
      ? { tool_calls: calls.map(({ id, name, args }) => ({ id, type: "function", function: { name, arguments: args.join("") } })) }
      : {}),
  };
  return { id: "c", model: "m", choices: [{ index: 0, message, finish_reason: chatReasons[answer.stop] }], ...chatUsageOf(answer) };
}

/** A wait stands in the sentence. @see https://platform.openai.com/docs/guides/rate-limits (2026-11-22) */
const failure: VendorWire["failure"] = ({ status, message, overflow, waitMs }) => ({
  status: overflow ? 400 : status,
  body: {
    error: overflow
      ? { message: "This model's maximum context length is 8192 tokens.", code: "context_length_exceeded" }
      : { message: waitMs === undefined ? message : `${message} Please try again in ${waitMs / 1_000}s.`, type: "x", code: null },
  },
});

/** @see https://platform.openai.com/docs/api-reference/chat-streaming (2026-11-21) */
const chat: VendorWire = {
  contentType: "text/event-stream",
  frames: chatFramesOf,
  whole: chatWholeOf,
  failure,
  errorFrame: (message) => frame({ error: { message, type: "server_error" } }).text,
};

/** Whole items, in order. */
function itemsOf({ thinking, text, calls = [], stop }: WireAnswer): readonly JsonObject[] {
  const summary = thinking ? [{ type: "summary_text", text: thinking.pieces.join("") }] : [];
  const content =
    stop === "refusal"
      ? { type: "refusal", refusal: text?.join("") ?? "I cannot help with that." }
      : { type: "output_text", text: text?.join("") ?? "" };
  return [
    ...(thinking ? [{ type: "reasoning", id: "rs", summary, encrypted_content: thinking.signature ?? "secret" }] : []),
    ...(text || stop === "refusal" ? [{ type: "message", id: "msg", content: [content] }] : []),
    ...calls.map(({ id, name, args }) => ({ type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: args.join("") })),
  ];
}

function responseOf(answer: WireAnswer): JsonObject {
  const { usage, stop } = answer;
  const details = {
    ...(usage?.cacheRead === undefined ? {} : { input_tokens_details: { cached_tokens: usage.cacheRead } }),
    ...(usage?.reasoning === undefined ? {} : { output_tokens_details: { reasoning_tokens: usage.reasoning } }),
  };
  return {
    id: "resp",
    model: "m",
    status: stop === "length" ? "incomplete" : "completed",
    incomplete_details: stop === "length" ? { reason: "max_output_tokens" } : null,
    output: itemsOf(answer),
    usage: usage ? { input_tokens: usage.input + (usage.cacheRead ?? 0), output_tokens: usage.output, ...details } : null,
  };
}

function responsesFramesOf(answer: WireAnswer): readonly WireFrame[] {
  const items = itemsOf(answer);
  const placeOf = (type: string): number => items.findIndex((item) => item["type"] === type);
  const firstCall = placeOf("function_call");
  const kind = answer.stop === "refusal" ? "response.refusal.delta" : "response.output_text.delta";
  const added = items.map((item, at) =>
    frame({ type: "response.output_item.added", output_index: at, item: { ...item, arguments: "", summary: [], content: [] } }),
  );
  const done = items.map((item, at) => frame({ type: "response.output_item.done", output_index: at, item }));
  const last = answer.stop === "length" ? "response.incomplete" : "response.completed";
  return [
    frame({ type: "response.created", response: { status: "in_progress" } }),
    ...added,
    ...(answer.thinking?.pieces ?? []).map((delta) =>
      frame({ type: "response.reasoning_summary_text.delta", output_index: placeOf("reasoning"), delta }),
    ),
    ...(answer.text ?? []).map((delta) => frame({ type: kind, output_index: placeOf("message"), delta }, "text")),
    ...piecesOf(answer).map(({ call, piece }) =>
      frame({ type: "response.function_call_arguments.delta", output_index: firstCall + call, delta: piece }, "arguments"),
    ),
    ...done,
    frame({ type: last, response: responseOf(answer) }, "end"),
  ];
}

/** @see https://platform.openai.com/docs/api-reference/responses-streaming (2026-11-21) */
const responses: VendorWire = {
  contentType: "text/event-stream; charset=utf-8",
  frames: responsesFramesOf,
  whole: responseOf,
  failure,
  errorFrame: (message) => frame({ type: "error", code: "server_error", message, param: null }).text,
};

/** Signed reasoning over chat is OpenRouter's; the key of the cache is OpenAI's own. */
const compat = { ...otherServer, reasoningReplay: "details", promptCacheKey: true } as const;

describe.each(["chat", "responses"] as const)("the promises of a model provider, over %s", (api) => {
  runKit(it, modelProviderKit, {
    make: providerUnderTest({
      wire: api === "chat" ? chat : responses,
      model: "gpt-6.1-sol",
      modelWithoutVision: "gpt-3.5-turbo",
      modelWithoutReasoning: "gpt-4.1",
      make: (origin, apiKey) => openai({ apiKey, baseURL: `${origin}/v1`, api, compat }),
    }),
    lacks: [{ capability: "trailers", reason: "the vendor sends none" }],
  });
});

describe("a server that takes no wish for reasoning drops none in silence", () => {
  runKit(
    it,
    modelProviderKit.filter(({ id }) => id.startsWith("reasoning")),
    {
      make: providerUnderTest({
        wire: chat,
        model: "mistral-large",
        modelWithoutReasoning: "ministral",
        make: (origin, apiKey) => openai({ apiKey, baseURL: `${origin}/v1`, compat: { ...otherServer, reasoning: "none" } }),
      }),
    },
  );
});
