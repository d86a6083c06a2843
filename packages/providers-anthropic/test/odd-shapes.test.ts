import type { JsonObject } from "@loopwright/core";
import { tryOddShapes } from "@loopwright/provider-kit/testing";
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

describe("whatever member has another type than documented, the answer is refused or the member is of no matter", () => {
  const usage = { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 1, output_tokens_details: { thinking_tokens: 1 } };
  const start = (index: number, content_block: JsonObject): JsonObject => ({ type: "content_block_start", index, content_block });
  const more = (index: number, delta: JsonObject): JsonObject => ({ type: "content_block_delta", index, delta });
  const stop = (index: number) => ({ type: "content_block_stop", index });
  const read =
    "index message delta content content_block text thinking signature partial_json id name model stop_reason stop_details category explanation usage input_tokens output_tokens cache_read_input_tokens output_tokens_details thinking_tokens".split(
      " ",
    );

  it("in a stream", async () => {
    const { tried, flaws } = await tryOddShapes({
      make: (transport) => anthropic({ apiKey: "key-0123456789", transport }),
      contentType: "text/event-stream",
      read,
      events: [
        { type: "message_start", message: { model: "m", usage } },
        start(0, { type: "thinking", thinking: "Hm", signature: "" }),
        more(0, { type: "thinking_delta", thinking: "Hm" }),
        more(0, { type: "signature_delta", signature: "sealed" }),
        stop(0),
        start(1, { type: "text", text: "Hi", citations: [{ type: "page" }] }),
        more(1, { type: "text_delta", text: "Hi" }),
        stop(1),
        start(2, { type: "tool_use", id: "a", name: "n", input: {} }),
        more(2, { type: "input_json_delta", partial_json: "{}" }),
        stop(2),
        { type: "message_delta", delta: { stop_reason: "refusal", stop_details: { category: "c", explanation: "e" } }, usage },
        { type: "message_stop" },
      ],
    });
    expect(flaws).toEqual([]);
    expect(tried).toBeGreaterThan(150);
  });

  it("in one piece", async () => {
    const { flaws } = await tryOddShapes({
      make: (transport) => anthropic({ apiKey: "key-0123456789", transport }),
      contentType: "application/json",
      frame: (event) => event,
      stream: false,
      read: [...read, "input"],
      events: [
        {
          type: "message",
          model: "m",
          content: [
            { type: "thinking", thinking: "Hm", signature: "sealed" },
            { type: "text", text: "Hi" },
            { type: "tool_use", id: "a", name: "n", input: { a: 1 } },
          ],
          stop_reason: "tool_use",
          usage,
        },
      ],
    });
    expect(flaws).toEqual([]);
  });
});
