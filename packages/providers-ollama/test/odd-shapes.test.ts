import { tryOddShapes } from "@loopwright/provider-kit/testing";
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

describe("whatever member has another type than documented, the answer is refused or the member is of no matter", () => {
  const call = { id: "a", function: { name: "n", arguments: { x: 1 } } };
  const read = "message content thinking tool_calls function name id done done_reason model prompt_eval_count eval_count".split(" ");
  const last = { model: "m", message: { content: "" }, done: true, done_reason: "stop", prompt_eval_count: 1, eval_count: 1 };

  it.each([
    ["in a stream", true, [{ model: "m", message: { thinking: "Hm", content: "Hi", tool_calls: [call] }, done: false }, last]],
    ["in one piece", false, [{ ...last, message: { thinking: "Hm", content: "Hi", tool_calls: [call] } }]],
  ])("%s", async (_, stream, events) => {
    const { tried, flaws } = await tryOddShapes({
      make: (transport) => ollama({ transport }),
      contentType: stream ? "application/x-ndjson" : "application/json",
      frame: (event) => `${event}\n`,
      read,
      stream,
      events,
    });
    // The model is read in the last line.
    expect(flaws.filter((flaw) => !stream || !flaw.startsWith("Event 0, model"))).toEqual([]);
    expect(tried).toBeGreaterThan(30);
  });
});
