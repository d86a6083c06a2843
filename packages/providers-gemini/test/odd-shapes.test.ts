import type { JsonObject } from "@loopwright/core";
import { tryOddShapes } from "@loopwright/provider-kit/testing";
import { describe, expect, it } from "vitest";
import { gemini } from "../src/index.ts";

/** Events that are JSON, and of a shape that the vendor does not document. */
const odd: readonly (readonly [name: string, events: readonly unknown[]])[] = [
  ["text as an object", [{ candidates: [{ content: { parts: [{ text: { text: "Hi" } }] } }] }]],
  ["parts as an object", [{ candidates: [{ content: { parts: { text: "Hi" } } }] }]],
  ["a part that is null", [{ candidates: [{ content: { parts: [null] } }] }]],
  ["the name of a call as a number", [{ candidates: [{ content: { parts: [{ functionCall: { name: 5 } }] } }] }]],
  ["an event that is null", [null]],
  ["usage as a text", [{ usageMetadata: "12" }]],
  ["a count as a text", [{ usageMetadata: { promptTokenCount: "12" } }]],
];

describe("an event of an unexpected shape is MODEL_PROTOCOL", () => {
  it.each(odd)("%s", async (_, events) => {
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const transport: typeof fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    const provider = gemini({ apiKey: "key-0123456789", transport });
    const request = { model: "gemini-3.8-flash", messages: [{ role: "user", content: "Say something." }] } as const;
    const call = (async () => {
      for await (const _batch of provider.stream(request, { signal: new AbortController().signal, attempt: 1 }));
    })();
    await expect(call).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
  });
});

describe("whatever member has another type than documented, the answer is refused or the member is of no matter", () => {
  const answer = (parts: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { parts }, ...more }],
    modelVersion: "m",
  });
  const counts = { promptTokenCount: 3, cachedContentTokenCount: 1, candidatesTokenCount: 2, thoughtsTokenCount: 1, totalTokenCount: 6 };
  const partialArgs = [
    { jsonPath: "$.a", stringValue: "text" },
    { jsonPath: "$.b", numberValue: 1 },
    { jsonPath: "$.c", boolValue: true },
  ];
  const options = {
    make: (transport: typeof fetch) => gemini({ apiKey: "key-0123456789", transport }),
    read: "candidates content parts text thought thoughtSignature functionCall name id partialArgs jsonPath stringValue numberValue boolValue willContinue finishReason finishMessage promptFeedback blockReason modelVersion usageMetadata".split(
      " ",
    ),
  };
  const events = [
    answer([
      { text: "Hm", thought: true },
      { text: "Hi", thoughtSignature: "sealed" },
    ]),
    answer([{ functionCall: { name: "n", id: "a", args: { x: 1 } }, thoughtSignature: "sealed" }]),
    answer([{ functionCall: { name: "m", partialArgs, willContinue: true } }]),
    answer([{ functionCall: { willContinue: false } }]),
    { ...answer([], { finishReason: "STOP", finishMessage: "Done" }), promptFeedback: { blockReason: "OTHER" }, usageMetadata: counts },
  ];

  it.each([
    ["in a stream", { contentType: "text/event-stream", events }],
    ["in one piece", { contentType: "application/json", frame: (event: string) => event, stream: false, events: [events] }],
  ])("%s", async (_, more) => {
    const { tried, flaws } = await tryOddShapes({ ...options, ...more });
    expect(flaws).toEqual([]);
    expect(tried).toBeGreaterThan(100);
  });
});
