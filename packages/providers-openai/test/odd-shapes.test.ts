import { describe, expect, it } from "vitest";
import { openai } from "../src/index.ts";

/** Events that are JSON, and of a shape that the vendor does not document. */
const odd: readonly (readonly [name: string, events: readonly unknown[]])[] = [
  ["content as an object", [{ choices: [{ delta: { content: { text: "Hi" } } }] }]],
  ["content as a number", [{ choices: [{ delta: { content: 5 } }] }]],
  ["a part of the content without text", [{ choices: [{ delta: { content: [{ type: "text", text: {} }] } }] }]],
  ["choices as an object", [{ choices: { delta: { content: "Hi" } } }]],
  ["choices missing, up to the end", [{ id: "x" }, "[DONE]"]],
  ["a choice that is null", [{ choices: [null] }]],
  ["tool calls as an object", [{ choices: [{ delta: { tool_calls: { id: "a" } } }] }]],
  [
    "arguments as an object",
    [{ choices: [{ delta: { tool_calls: [{ index: 0, id: "a", function: { name: "n", arguments: { a: 1 } } }] } }] }],
  ],
  ["usage as a text", [{ choices: [], usage: "12" }]],
  ["a count as a text", [{ choices: [], usage: { prompt_tokens: "12" } }]],
];

describe("an event of an unexpected shape is MODEL_PROTOCOL", () => {
  it.each(odd)("%s", async (_, events) => {
    const body = events.map((event) => `data: ${event === "[DONE]" ? event : JSON.stringify(event)}\n\n`).join("");
    const transport: typeof fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    const provider = openai({ apiKey: "key-0123456789", api: "chat", transport });
    const request = { model: "gpt-4o", messages: [{ role: "user", content: "Say something." }] } as const;
    const call = (async () => {
      for await (const _batch of provider.stream(request, { signal: new AbortController().signal, attempt: 1 }));
    })();
    await expect(call).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
  });
});
