import { describe, expect, it } from "vitest";
import { anthropic } from "../src/index.ts";

/** Events that are JSON, and of a shape that the vendor does not document. */
const odd: readonly (readonly [name: string, events: readonly unknown[]])[] = [
  ["text as an object", [{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: { text: "Hi" } } }]],
  ["an index that is none", [{ type: "content_block_delta", index: "first", delta: { type: "text_delta", text: "Hi" } }]],
  [
    "arguments as an object",
    [
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "a", name: "n" } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: { a: 1 } } },
    ],
  ],
  ["usage as a text", [{ type: "message_start", message: { usage: "12" } }]],
  ["a count as a text", [{ type: "message_start", message: { usage: { input_tokens: "12" } } }]],
];

describe("an event of an unexpected shape is MODEL_PROTOCOL", () => {
  it.each(odd)("%s", async (_, events) => {
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const transport: typeof fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    const provider = anthropic({ apiKey: "key-0123456789", transport });
    const request = { model: "claude-sonnet-4-6", messages: [{ role: "user", content: "Say something." }] } as const;
    const call = (async () => {
      for await (const _batch of provider.stream(request, { signal: new AbortController().signal, attempt: 1 }));
    })();
    await expect(call).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
  });
});
