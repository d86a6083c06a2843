import type { JsonObject } from "@loopwright/core";
import { nodeHttp } from "@loopwright/provider-kit/node";
import { providerUnderTest, type VendorWire, type WireFrame } from "@loopwright/provider-kit/testing";
import { modelProviderKit, runKit, type WireAnswer } from "@loopwright/testing";
import { describe, it } from "vitest";
import { gemini } from "../src/index.ts";

const finishReasons = { stop: "STOP", length: "MAX_TOKENS", tool_calls: "STOP", refusal: "SAFETY" } as const;

interface Written {
  readonly part: JsonObject;
  readonly carries?: "text" | "arguments";
}

/** Calls come whole, with their arguments as a value; the signature of the thinking stands on the first of them, else on the text. */
function writtenBy({ thinking, text = [], calls = [] }: WireAnswer): readonly Written[] {
  const signed = thinking?.signature === undefined ? {} : { thoughtSignature: thinking.signature };
  return [
    ...(thinking?.pieces ?? []).map((piece) => ({ part: { text: piece, thought: true } })),
    ...text.map((piece, at) => ({
      part: { text: piece, ...(calls.length === 0 && at === text.length - 1 ? signed : {}) },
      carries: "text" as const,
    })),
    ...calls.map(({ id, name, args }, at) => ({
      part: { functionCall: { id, name, args: JSON.parse(args.join("") || "{}") }, ...(at === 0 ? signed : {}) },
      carries: "arguments" as const,
    })),
  ];
}

/** Cached tokens are a part of the prompt's, thoughts are apart from the candidates'. */
function usageOf({ usage }: WireAnswer): JsonObject {
  if (!usage) return {};
  const { input, cacheRead, output, reasoning } = usage;
  return {
    usageMetadata: {
      promptTokenCount: input + (cacheRead ?? 0),
      candidatesTokenCount: output - (reasoning ?? 0),
      ...(cacheRead === undefined ? {} : { cachedContentTokenCount: cacheRead }),
      ...(reasoning === undefined ? {} : { thoughtsTokenCount: reasoning }),
    },
  };
}

function answerOf(parts: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { candidates: [{ content: { role: "model", parts }, ...more, index: 0 }], modelVersion: "gemini-3.8-flash" };
}

function framesOf(answer: WireAnswer): readonly WireFrame[] {
  const frame = (value: JsonObject): string => `data: ${JSON.stringify(value)}\r\n\r\n`;
  const end = { ...answerOf([{ text: "" }], { finishReason: finishReasons[answer.stop] }), ...usageOf(answer) };
  return [
    ...writtenBy(answer).map(({ part, ...more }) => ({ text: frame(answerOf([part])), ...more })),
    { text: frame(end), carries: "end" },
  ];
}

/** Neighbouring pieces of text are one part where nothing is streamed. */
function wholeOf(answer: WireAnswer): JsonObject {
  const { text, thinking } = answer;
  const joined: WireAnswer = {
    ...answer,
    ...(text ? { text: [text.join("")] } : {}),
    ...(thinking ? { thinking: { ...thinking, pieces: [thinking.pieces.join("")] } } : {}),
  };
  const parts = writtenBy(joined).map(({ part }) => part);
  return { ...answerOf(parts, { finishReason: finishReasons[answer.stop] }), ...usageOf(answer) };
}

const statuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const retryInfo = "type.googleapis.com/google.rpc.RetryInfo";

function errorOf(code: number, message: string, waitMs?: number): JsonObject {
  const details = waitMs === undefined ? {} : { details: [{ "@type": retryInfo, retryDelay: `${waitMs / 1_000}s` }] };
  return { error: { code, message, status: statuses[code] ?? "UNKNOWN", ...details } };
}

/** @see https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent (2026-11-21) */
const wire: VendorWire = {
  contentType: "text/event-stream",
  frames: framesOf,
  whole: wholeOf,
  isWhole: ({ path }) => path.includes(":generateContent"),
  failure: ({ status, message, overflow, waitMs }) =>
    overflow
      ? { status: 400, body: errorOf(400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).") }
      : { status, body: errorOf(status, message, waitMs) },
  errorFrame: (message) => `data: ${JSON.stringify(errorOf(503, message))}\r\n\r\n`,
};

describe.each([
  ["the global fetch", {}],
  ["node:http", { transport: nodeHttp() }],
])("the promises of a model provider, over %s", (_, transport) => {
  runKit(it, modelProviderKit, {
    make: providerUnderTest({
      wire,
      model: "gemini-3.8-flash",
      modelWithoutReasoning: "gemini-2.0-flash",
      make: (baseURL, apiKey) => gemini({ apiKey, baseURL, ...transport }),
    }),
    lacks: [
      { capability: "text-only", reason: "all of Gemini's models see; `capabilities: { vision: false }` is tested beside this" },
      { capability: "raw-arguments", reason: "arguments come as a value" },
      { capability: "cache-keys", reason: "the vendor caches by itself" },
      { capability: "trailers", reason: "the vendor sends none" },
    ],
  });
});
