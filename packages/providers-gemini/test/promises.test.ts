import type { JsonObject } from "@loopwright/core";
import { modelProviderKit, runKit, type WireAnswer } from "@loopwright/core/testing";
import { providerUnderTest, type VendorWire, type WireFrame } from "@loopwright/provider-kit/testing";
import { describe, it } from "vitest";
import { gemini } from "../src/index.ts";

/** Calls have no reason of their own. @see https://ai.google.dev/api/generate-content (2026-11-21) */
const finishReasons = { stop: "STOP", length: "MAX_TOKENS", tool_calls: "STOP", refusal: "SAFETY" } as const;

interface Said {
  readonly part: JsonObject;
  readonly carries?: "text" | "arguments";
}

/** Calls come whole; the signature of the thinking stands on the first of them. */
function saidFor({ thinking, text = [], calls = [] }: WireAnswer): readonly Said[] {
  const signed = thinking?.signature === undefined ? {} : { thoughtSignature: thinking.signature };
  return [
    ...(thinking?.pieces ?? []).map((piece): Said => ({ part: { text: piece, thought: true } })),
    ...text.map((piece): Said => ({ part: { text: piece }, carries: "text" })),
    ...calls.map(({ id, name, args }, at): Said => {
      const functionCall = { id, name, args: JSON.parse(args.join("") || "{}") as JsonObject };
      return { part: { functionCall, ...(at === 0 ? signed : {}) }, carries: "arguments" };
    }),
  ];
}

/** The prompt's count includes what came from a cache. */
function usageOf({ usage }: WireAnswer): JsonObject {
  if (!usage) return {};
  const { input, cacheRead, output } = usage;
  const cached = cacheRead === undefined ? {} : { cachedContentTokenCount: cacheRead };
  return { usageMetadata: { promptTokenCount: input + (cacheRead ?? 0), ...cached, candidatesTokenCount: output } };
}

function bodyOf(parts: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { candidates: [{ content: { role: "model", parts }, index: 0, ...more }], modelVersion: "gemini-2.5-flash" };
}

function lastOf(answer: WireAnswer, parts: readonly JsonObject[]): JsonObject {
  return { ...bodyOf(parts, { finishReason: finishReasons[answer.stop] }), ...usageOf(answer) };
}

const frame = (event: JsonObject): string => `data: ${JSON.stringify(event)}\r\n\r\n`;

const wire: VendorWire = {
  contentType: "text/event-stream",
  frames: (answer): readonly WireFrame[] => [
    ...saidFor(answer).map(({ part, carries }) => ({ text: frame(bodyOf([part])), ...(carries ? { carries } : {}) })),
    { text: frame(lastOf(answer, [{ text: "" }])), carries: "end" },
  ],
  whole: (answer) =>
    lastOf(
      answer,
      saidFor(answer).map(({ part }) => part),
    ),
  isWhole: ({ path }) => path.includes(":generateContent"),
  failure: ({ status, message, overflow }) =>
    overflow
      ? {
          status: 400,
          body: {
            error: {
              code: 400,
              message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
              status: "INVALID_ARGUMENT",
            },
          },
        }
      : { status, body: { error: { code: status, message, status: "UNKNOWN" } } },
  errorFrame: (message) => frame({ error: { code: 503, message, status: "UNAVAILABLE" } }),
};

describe("the promises of a model provider", () => {
  runKit(it, modelProviderKit, {
    make: providerUnderTest({ wire, model: "gemini-2.5-flash", make: (baseURL, apiKey) => gemini({ apiKey, baseURL }) }),
    lacks: [
      { capability: "raw-arguments", reason: "arguments come as a value" },
      { capability: "text-only", reason: "all of Gemini's models see" },
    ],
  });
});
