import type { JsonObject } from "@loopwright/core";
import { tryOddShapes } from "@loopwright/provider-kit/testing";
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

const calls = [{ index: 0, id: "a", type: "function", function: { name: "n", arguments: "{}" } }];
const custom = [{ index: 1, id: "b", type: "custom", custom: { name: "m", input: "text" } }];
const details = { prompt_tokens_details: { cached_tokens: 1 }, completion_tokens_details: { reasoning_tokens: 1 } };
const delta = {
  reasoning_content: "Hm",
  reasoning_details: [{ type: "reasoning.text", index: 0, text: "Hm" }],
  content: "Hi",
  refusal: "No",
};

describe("whatever member has another type than documented, the answer is refused or the member is of no matter", () => {
  const choice = (more: JsonObject, finish_reason: string | null = null): JsonObject => ({
    model: "m",
    choices: [{ index: 0, delta: more, finish_reason }],
  });
  const chatRead =
    "model choices delta message content reasoning reasoning_content reasoning_details refusal tool_calls function name arguments custom input id finish_reason usage prompt_tokens completion_tokens total_tokens prompt_tokens_details completion_tokens_details cached_tokens reasoning_tokens index thinking".split(
      " ",
    );
  // What is inside `reasoning_details` is the vendor's own; a content may be a text or a list.
  const isOurs = (flaw: string): boolean => !flaw.includes("reasoning_details.0.") && !flaw.includes('delta.content as "odd"');

  it("in chat completions", async () => {
    const { tried, flaws } = await tryOddShapes({
      make: (transport) => openai({ apiKey: "key-0123456789", api: "chat", model: "m", baseURL: "http://acme.test/v1", transport }),
      contentType: "text/event-stream",
      read: chatRead,
      events: [
        choice(delta),
        choice({
          content: [
            { type: "text", text: "Hi" },
            { type: "thinking", thinking: [{ type: "text", text: "Hm" }] },
          ],
        }),
        choice({ reasoning: "Hm", tool_calls: calls }),
        choice({ tool_calls: custom }, "tool_calls"),
        { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, ...details } },
      ],
    });
    expect(flaws.filter(isOurs)).toEqual([]);
    expect(tried).toBeGreaterThan(150);
  });

  it("in chat completions in one piece", async () => {
    const message = { ...delta, tool_calls: [...calls, ...custom] };
    const { flaws } = await tryOddShapes({
      make: (transport) => openai({ apiKey: "key-0123456789", api: "chat", model: "m", baseURL: "http://acme.test/v1", transport }),
      contentType: "application/json",
      frame: (event) => event,
      read: chatRead,
      stream: false,
      events: [{ model: "m", choices: [{ index: 0, message, finish_reason: "stop" }], usage: { prompt_tokens: 3, ...details } }],
    });
    expect(flaws.filter(isOurs)).toEqual([]);
  });

  it("in responses", async () => {
    const call = { type: "function_call", call_id: "a", name: "n", arguments: "{}", namespace: "s" };
    const message = {
      type: "message",
      phase: "final",
      content: [
        { type: "output_text", text: "Hi" },
        { type: "refusal", refusal: "No" },
      ],
    };
    const reasoning = {
      type: "reasoning",
      summary: [{ type: "summary_text", text: "Hm" }],
      content: [{ type: "reasoning_text", text: "Hm" }],
    };
    const output = [reasoning, message, call, { type: "custom_tool_call", call_id: "b", name: "m", input: "text" }];
    const { tried, flaws } = await tryOddShapes({
      make: (transport) => openai({ apiKey: "key-0123456789", api: "responses", model: "m", baseURL: "http://acme.test/v1", transport }),
      contentType: "text/event-stream",
      read: "output_index item response output delta call_id name arguments input namespace phase content summary status model reason incomplete_details usage input_tokens output_tokens".split(
        " ",
      ),
      events: [
        { type: "response.output_item.added", output_index: 2, item: call },
        { type: "response.function_call_arguments.delta", output_index: 2, delta: "{}" },
        { type: "response.custom_tool_call_input.delta", output_index: 3, delta: "te" },
        { type: "response.refusal.delta", output_index: 1, delta: "No" },
        { type: "response.reasoning_text.delta", output_index: 0, delta: "Hm" },
        { type: "response.output_item.done", output_index: 3, item: { ...output[3] } },
        {
          type: "response.completed",
          response: {
            status: "incomplete",
            model: "m",
            incomplete_details: { reason: "max_output_tokens" },
            output,
            usage: { input_tokens: 3, output_tokens: 4 },
          },
        },
      ],
    });
    // What other events give or have sent of an item is not read here.
    const isReadElsewhere = /^Event (0, item\.(arguments|namespace)|5, item\.input|6, response\.output\.(0|2|3)\.)/;
    expect(flaws.filter((flaw) => !isReadElsewhere.test(flaw))).toEqual([]);
    expect(tried).toBeGreaterThan(150);
  });
});
