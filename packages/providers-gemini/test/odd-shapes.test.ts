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
