import { describe, expect, it } from "vitest";
import { ollama } from "../src/index.ts";

/** Events that are JSON, and of a shape that the vendor does not document. */
const odd: readonly (readonly [name: string, events: readonly unknown[]])[] = [
  ["content as an object", [{ message: { content: { text: "Hi" } } }]],
  ["tool calls as an object", [{ message: { tool_calls: { function: {} } } }]],
  ["a tool call that is null", [{ message: { tool_calls: [null] } }]],
  ["the name of a call as a number", [{ message: { tool_calls: [{ function: { name: 5 } }] } }]],
  ["a count as a text", [{ message: {}, done: true, eval_count: "12" }]],
];

describe("an event of an unexpected shape is MODEL_PROTOCOL", () => {
  it.each(odd)("%s", async (_, events) => {
    const body = events.map((event) => `${JSON.stringify(event)}\n`).join("");
    const transport: typeof fetch = async () => new Response(body, { headers: { "content-type": "application/x-ndjson" } });
    const provider = ollama({ apiKey: "key-0123456789", transport });
    const request = { model: "qwen3:4b", messages: [{ role: "user", content: "Say something." }] } as const;
    const call = (async () => {
      for await (const _batch of provider.stream(request, { signal: new AbortController().signal, attempt: 1 }));
    })();
    await expect(call).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
  });
});
