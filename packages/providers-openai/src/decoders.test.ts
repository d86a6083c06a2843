import { createAssembler, type ModelChunk } from "@loopwright/core";
import type { ChunkDecoder, SseEvent } from "@loopwright/provider-kit";
import { describe, expect, it } from "vitest";
import { chatChunk } from "../test/samples.ts";
import { ChatDecoder } from "./chat-decoder.ts";
import { ResponsesDecoder } from "./responses-decoder.ts";

const context = { provider: "OpenAI", secrets: [] };

function read(
  decoder: ChunkDecoder<SseEvent>,
  events: readonly (object | string)[],
): ReturnType<ReturnType<typeof createAssembler>["finish"]> {
  const out: ModelChunk[] = [];
  for (const event of events) decoder.take({ event: "", data: typeof event === "string" ? event : JSON.stringify(event) }, out);
  decoder.finish(out);
  const assembler = createAssembler();
  for (const chunk of out) assembler.push(chunk);
  return assembler.finish("run.1");
}

const chat = (...events: readonly (object | string)[]) => read(new ChatDecoder(context), [...events, "[DONE]"]);
const responses = (...events: readonly object[]) => read(new ResponsesDecoder(context), events);
const call = (fields: object) => chatChunk({ tool_calls: [fields] });
const completed = { type: "response.completed", response: { status: "completed" } };

describe("ChatDecoder", () => {
  it("joins interleaved parallel calls", () => {
    const answer = chat(
      call({ index: 0, id: "a", function: { name: "one", arguments: "" } }),
      call({ index: 1, id: "b", function: { name: "two", arguments: '{"x"' } }),
      call({ index: 0, function: { arguments: '{"y":' } }),
      call({ index: 1, function: { arguments: ":1}" } }),
      call({ index: 0, function: { arguments: "2}" } }),
      chatChunk({}, "tool_calls"),
    );
    expect(answer.parts).toMatchObject([
      { id: "a", name: "one", args: { y: 2 } },
      { id: "b", name: "two", args: { x: 1 } },
    ]);
    expect(answer.ended).toMatchObject({ stopReason: "tool_calls", raw: "tool_calls" });
  });

  it("distinguishes calls that share a number or have none", () => {
    const shared = chat(
      call({ index: 0, id: "a", function: { name: "one", arguments: "{}" } }),
      call({ index: 0, id: "b", function: { name: "two", arguments: "{}" } }),
    );
    expect(shared.parts).toMatchObject([{ id: "a" }, { id: "b" }]);
    const none = chat(
      call({ id: "a", function: { name: "one", arguments: "{}" } }),
      call({ id: "b", function: { name: "one", arguments: "{}" } }),
    );
    expect(none.parts).toMatchObject([{ id: "a" }, { id: "b" }]);
  });

  it("F6: puts a name together that comes in two chunks, and never calls a tool by half of it", () => {
    const answer = chat(
      call({ index: 0, id: "a", function: { name: "read" } }),
      call({ index: 0, function: { name: "_file", arguments: "" } }),
      call({ index: 0, function: { arguments: '{"x":1}' } }),
      call({ index: 1, id: "b", function: { name: "li" } }),
      call({ index: 1, id: "b", function: { name: "st" } }),
    );
    expect(answer.parts).toMatchObject([
      { id: "a", name: "read_file", args: { x: 1 } },
      { id: "b", name: "list", args: {} },
    ]);
  });

  it("F6: gives calls whose numbers jump places of their own", () => {
    const answer = chat(
      call({ index: 5, id: "a", function: { name: "one", arguments: '{"x":' } }),
      call({ index: 2, id: "b", function: { name: "two", arguments: "{}" } }),
      call({ index: 5, function: { arguments: "1}" } }),
    );
    expect(answer.parts).toMatchObject([
      { name: "one", args: { x: 1 } },
      { name: "two", args: {} },
    ]);
  });

  it("takes a call whose name and id come again with each piece for one call", () => {
    const answer = chat(
      call({ index: 0, id: "a", function: { name: "one", arguments: '{"x":' } }),
      call({ index: 0, id: "a", function: { name: "one", arguments: "1}" } }),
    );
    expect(answer.parts).toMatchObject([{ id: "a", args: { x: 1 } }]);
  });

  it.each(["reasoning_content", "reasoning"])("takes %s of compatible servers for thinking and remembers where it came from", (field) => {
    expect(
      chat(chatChunk({ [field]: "h" }), chatChunk({ [field]: "m" }), chatChunk({ content: "Well" }), chatChunk({}, "stop")).parts,
    ).toEqual([
      { type: "thinking", text: "hm", opaque: { vendor: "openai-chat", data: { field } } },
      { type: "text", text: "Well" },
    ]);
  });

  it("emits thinking once when it comes in both fields", () => {
    expect(chat(chatChunk({ reasoning: "hm", reasoning_content: "hm" })).parts).toMatchObject([{ text: "hm" }]);
  });

  it("puts the pieces of reasoning_details together", () => {
    const detail = (fields: object) =>
      chatChunk({ reasoning: "x", reasoning_details: [{ type: "reasoning.text", index: 0, format: "f", ...fields }] });
    const answer = chat(
      detail({ text: "a" }),
      detail({ text: "b" }),
      detail({ signature: "s" }),
      chatChunk({ reasoning_details: [{ type: "reasoning.encrypted", index: 1, data: "d" }] }),
    );
    expect(answer.parts).toMatchObject([
      {
        opaque: {
          data: {
            details: [
              { type: "reasoning.text", index: 0, format: "f", text: "ab", signature: "s" },
              { type: "reasoning.encrypted", index: 1, data: "d" },
            ],
          },
        },
      },
    ]);
  });

  it("reads content in parts, as Mistral's reasoning models send it", () => {
    const pieces = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "Well" },
    ];
    expect(chat(chatChunk({ content: pieces })).parts).toMatchObject([
      { type: "thinking", text: "hm" },
      { type: "text", text: "Well" },
    ]);
  });

  it("keeps content and usage that come after the finish reason, in a chunk of their own or inside one with choices", () => {
    const answer = chat(
      chatChunk({ content: "a" }),
      { ...chatChunk({ content: "b" }, "stop"), usage: { prompt_tokens: 1 } },
      chatChunk({ content: "c" }),
      {
        choices: [],
        usage: { prompt_tokens: 3, completion_tokens: 2 },
      },
    );
    expect(answer).toMatchObject({ parts: [{ text: "abc" }], usage: { input: 3, output: 2 }, ended: { raw: "stop" } });
  });

  it("reads the usage where Groq used to put it, and null usage as none", () => {
    expect(chat({ ...chatChunk({}), usage: null, x_groq: { usage: { prompt_tokens: 3 } } }).usage).toEqual({ input: 3 });
  });

  it("D37: ends a refusal as an error with the model's own sentence", () => {
    const answer = chat(chatChunk({ refusal: "I cannot " }), chatChunk({ refusal: "do that." }), chatChunk({}, "stop"));
    expect(answer).toMatchObject({ parts: [], ended: { stopReason: "error", raw: "stop", message: "I cannot do that." } });
  });

  it("A40: maps length to length and keeps a cut call's text", () => {
    const answer = chat(call({ index: 0, id: "a", function: { name: "one", arguments: '{"x":' } }), chatChunk({}, "length"));
    expect(answer).toMatchObject({ parts: [{ problem: "truncated", argsText: '{"x":' }], ended: { stopReason: "length" } });
  });

  it("does without [DONE] where a finish reason came, and without a finish reason where [DONE] came", () => {
    expect(read(new ChatDecoder(context), [chatChunk({ content: "a" }), chatChunk({}, "stop")]).ended).toMatchObject({
      stopReason: "stop",
    });
    expect(chat(chatChunk({ content: "a" })).ended).toEqual({ stopReason: "stop", model: "gpt-4.1-2025" });
    expect(() => read(new ChatDecoder(context), [chatChunk({ content: "a" })])).toThrow(
      expect.objectContaining({ code: "MODEL_STREAM_BROKEN" }),
    );
  });

  it("throws when the finish reason of a server is a failure", () => {
    expect(() => chat(chatChunk({}, "insufficient_system_resource"))).toThrow(expect.objectContaining({ code: "MODEL_OVERLOADED" }));
  });

  it("keeps a thought signature on its call, and a custom tool's text as its input", () => {
    const signed = call({
      index: 0,
      id: "a",
      function: { name: "one", arguments: "{}" },
      extra_content: { google: { thought_signature: "s" } },
    });
    expect(chat(signed).parts).toMatchObject([{ opaque: { data: { extra_content: { google: { thought_signature: "s" } } } } }]);
    const custom = chat(
      call({ index: 0, id: "a", custom: { name: "one", input: 'say "' } }),
      call({ index: 0, custom: { input: "\ud83d" } }),
      call({ index: 0, custom: { input: "\ude00" } }),
    );
    expect(custom.parts).toMatchObject([{ args: { input: 'say "😀' }, opaque: { data: { custom: true } } }]);
  });

  it("reads the first of several answers only", () => {
    expect(
      chat({
        choices: [
          { index: 1, delta: { content: "b" } },
          { index: 0, delta: { content: "a" } },
        ],
      }).parts,
    ).toEqual([{ type: "text", text: "a" }]);
  });
});

describe("ResponsesDecoder", () => {
  const reasoning = { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "abc" };

  it("reads thinking, text and calls, each in its place, and keeps the reasoning item whole", () => {
    const answer = responses(
      { type: "response.output_item.added", output_index: 0, item: { type: "reasoning", id: "rs", encrypted_content: "not yet whole" } },
      { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "hm" },
      { type: "response.output_item.done", output_index: 0, item: reasoning },
      { type: "response.output_item.added", output_index: 2, item: { type: "function_call", call_id: "a", name: "one", arguments: "" } },
      { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"x":' },
      { type: "response.output_text.delta", output_index: 1, delta: "Well" },
      { type: "response.function_call_arguments.delta", output_index: 2, delta: "1}" },
      {
        type: "response.output_item.done",
        output_index: 2,
        item: { type: "function_call", call_id: "a", name: "one", arguments: '{"x":1}' },
      },
      {
        type: "response.output_item.done",
        output_index: 1,
        item: { type: "message", phase: "commentary", content: [{ type: "output_text", text: "Well" }] },
      },
      completed,
    );
    expect(answer.parts).toEqual([
      { type: "thinking", text: "hm", opaque: { vendor: "openai-responses", data: reasoning } },
      { type: "text", text: "Well", opaque: { vendor: "openai-responses", data: { phase: "commentary" } } },
      { type: "tool_call", callKey: "run.1.0", id: "a", name: "one", args: { x: 1 } },
    ]);
    expect(answer.ended).toEqual({ stopReason: "tool_calls", raw: "completed" });
  });

  it("reads reasoning that is only encrypted as a block of its own", () => {
    const item = { ...reasoning, summary: [] };
    expect(responses({ type: "response.output_item.done", output_index: 0, item }, completed).parts).toEqual([
      { type: "opaque", vendor: "openai-responses", data: item },
    ]);
  });

  it("reads a custom tool's call", () => {
    const item = { type: "custom_tool_call", call_id: "a", name: "one", input: 'say "hi"' };
    const streamed = responses(
      { type: "response.output_item.added", output_index: 0, item: { ...item, input: "" } },
      { type: "response.custom_tool_call_input.delta", output_index: 0, delta: 'say "' },
      { type: "response.custom_tool_call_input.delta", output_index: 0, delta: 'hi"' },
      { type: "response.output_item.done", output_index: 0, item },
      completed,
    );
    expect(streamed.parts).toMatchObject([{ id: "a", args: { input: 'say "hi"' }, opaque: { data: { custom: true } } }]);
    expect(responses({ type: "response.output_item.done", output_index: 0, item }, completed).parts).toEqual(streamed.parts);
  });

  it("emits from the last event what no other event had", () => {
    const output = [{ type: "message", content: [{ type: "output_text", text: "Well" }] }];
    expect(responses({ type: "response.completed", response: { status: "completed", output } }).parts).toEqual([
      { type: "text", text: "Well" },
    ]);
  });

  it.each<[string, object, object]>([
    [
      "max_output_tokens",
      { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
      { stopReason: "length", raw: "incomplete:max_output_tokens" },
    ],
    [
      "content_filter",
      { status: "incomplete", incomplete_details: { reason: "content_filter" } },
      { stopReason: "error", raw: "incomplete:content_filter" },
    ],
    ["queued", { status: "queued" }, { stopReason: "error", raw: "queued" }],
  ])("maps %s", (_, response, ended) => {
    expect(responses({ type: "response.incomplete", response }).ended).toMatchObject(ended);
  });

  it("D37: ends a refusal as an error, streamed or whole", () => {
    const item = { type: "message", content: [{ type: "refusal", refusal: "I cannot do that." }] };
    const ended = { stopReason: "error", message: "I cannot do that.", raw: "completed" };
    const delta = { type: "response.refusal.delta", output_index: 0, delta: "I cannot do that." };
    expect(responses(delta, { type: "response.output_item.done", output_index: 0, item }, completed)).toMatchObject({ parts: [], ended });
    expect(responses({ type: "response.output_item.done", output_index: 0, item }, completed)).toMatchObject({ parts: [], ended });
  });

  it("throws for response.failed, with the vendor's reason", () => {
    const response = { status: "failed", error: { code: "rate_limit_exceeded", message: "Rate limit reached" } };
    expect(() => responses({ type: "response.failed", response })).toThrow(expect.objectContaining({ code: "MODEL_RATE_LIMITED" }));
  });
});
