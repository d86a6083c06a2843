import { type Assembled, createAssembler, type Json, type ModelChunk } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { createDecoder } from "../src/chunk-decoder.ts";
import type { WireEvent } from "../src/wire.ts";

const start = (index: number, content_block: Json): Json => ({ type: "content_block_start", index, content_block });
const delta = (index: number, delta: Json): Json => ({ type: "content_block_delta", index, delta });
const stop = (index: number): Json => ({ type: "content_block_stop", index });
const ending = (stop_reason: string, more: object = {}): Json[] => [
  {
    type: "message_delta",
    delta: { stop_reason, ...more } as Json,
    usage: { output_tokens: 7, output_tokens_details: { thinking_tokens: 2 } },
  },
  { type: "message_stop" },
];
const begin: Json = {
  type: "message_start",
  message: {
    model: "claude-x",
    usage: { input_tokens: 3, cache_read_input_tokens: 900, cache_creation_input_tokens: 40, output_tokens: 1 },
  },
};

function chunks(...events: readonly Json[]): readonly ModelChunk[] {
  const decoder = createDecoder();
  const out: ModelChunk[] = [];
  for (const event of events) if (!decoder.ended) decoder.take(event as WireEvent, out);
  if (decoder.ended) decoder.finish(out);
  return out;
}

function assembled(...events: readonly Json[]): Assembled {
  const assembler = createAssembler();
  for (const chunk of chunks(begin, ...events)) assembler.push(chunk);
  return assembler.finish("r.1");
}

const say = [start(0, { type: "text", text: "" }), delta(0, { type: "text_delta", text: "hi" }), stop(0)];

describe("A39: usage", () => {
  it("keeps uncached input, cache reads and writes apart and takes the last word on output", () => {
    expect(assembled(...say, ...ending("end_turn")).usage).toEqual({ input: 3, cacheRead: 900, cacheWrite: 40, output: 7, reasoning: 2 });
  });

  it("A38: stays unknown when the server reports nothing", () => {
    expect(
      chunks(
        { type: "message_start", message: {} },
        ...say,
        { type: "message_delta", delta: { stop_reason: "end_turn" } },
        { type: "message_stop" },
      ),
    ).not.toContainEqual(expect.objectContaining({ type: "usage" }));
  });
});

describe("A40, D37: stop reasons", () => {
  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["pause_turn", "stop"],
    ["a_word_to_come", "stop"],
    ["tool_use", "tool_calls"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
  ])("%s means %s", (raw, stopReason) => {
    expect(assembled(...say, ...ending(raw)).ended).toEqual({ stopReason, raw, model: "claude-x" });
  });

  it("a refusal is an error that a person can read", () => {
    const details = { stop_details: { type: "refusal", category: "cyber", explanation: "Not this." } };
    expect(assembled(...say, ...ending("refusal", details)).ended).toMatchObject({
      stopReason: "error",
      raw: "refusal",
      message: "The model declined to answer (cyber). Not this.",
    });
    expect(assembled(...ending("refusal")).ended).toMatchObject({ stopReason: "error", message: "The model declined to answer." });
  });
});

describe("blocks", () => {
  it("a call without arguments has empty ones", () => {
    const { parts } = assembled(
      start(0, { type: "tool_use", id: "a", name: "now", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: "" }),
      stop(0),
      ...ending("tool_use"),
    );
    expect(parts).toEqual([{ type: "tool_call", id: "a", callKey: "r.1.0", name: "now", args: {} }]);
  });

  it("a call whose input came whole keeps it", () => {
    const { parts } = assembled(
      start(0, { type: "tool_use", id: "a", name: "add", input: { x: 1 }, caller: { type: "code_execution_20260120", tool_id: "s" } }),
      stop(0),
      ...ending("tool_use"),
    );
    expect(parts).toMatchObject([{ args: { x: 1 }, opaque: { vendor: "anthropic", data: { caller: { tool_id: "s" } } } }]);
  });

  it("a signature in pieces belongs to its thinking, even where the text is omitted", () => {
    const { parts } = assembled(
      start(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "signature_delta", signature: "a" }),
      delta(0, { type: "signature_delta", signature: "b" }),
      stop(0),
      ...ending("end_turn"),
    );
    expect(parts).toEqual([{ type: "thinking", text: "", opaque: { vendor: "anthropic", data: { signature: "ab" } } }]);
  });

  it("citations stay with their text", () => {
    const { parts } = assembled(
      start(0, { type: "text", text: "", citations: [] }),
      delta(0, { type: "citations_delta", citation: { type: "char_location" } }),
      delta(0, { type: "text_delta", text: "so" }),
      stop(0),
      ...ending("end_turn"),
    );
    expect(parts).toEqual([
      { type: "text", text: "so", opaque: { vendor: "anthropic", data: { citations: [{ type: "char_location" }] } } },
    ]);
  });

  it("a server tool is kept as it is to be sent back and is no call, even one that was cut or is not known yet", () => {
    const { parts } = assembled(
      start(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: '{"query"' }),
      delta(0, { type: "input_json_delta", partial_json: ':"x"}' }),
      stop(0),
      start(1, { type: "mcp_tool_use", id: "m", name: "find", input: {}, server_name: "srv" }),
      delta(1, { type: "input_json_delta", partial_json: '{"cut' }),
      stop(1),
      start(2, { type: "compaction", content: "" }),
      delta(2, { type: "compaction_delta", content: "short" }),
      stop(2),
      ...ending("max_tokens"),
    );
    expect(parts).toEqual([
      { type: "opaque", vendor: "anthropic", data: { type: "server_tool_use", id: "s", name: "web_search", input: { query: "x" } } },
      { type: "opaque", vendor: "anthropic", data: { type: "mcp_tool_use", id: "m", name: "find", input: {}, server_name: "srv" } },
      { type: "opaque", vendor: "anthropic", data: { type: "compaction", content: "short" } },
    ]);
  });

  it("text whose start a compatible server left out is not lost", () => {
    expect(assembled(delta(0, { type: "text_delta", text: "hi" }), ...ending("end_turn")).parts).toEqual([{ type: "text", text: "hi" }]);
  });
});

it("a ping is a sign of life", () => {
  expect(chunks({ type: "ping" })).toEqual([{ type: "alive" }]);
});

it.each([
  ["overloaded_error", "MODEL_OVERLOADED", true],
  ["api_error", "MODEL_OVERLOADED", true],
  ["rate_limit_error", "MODEL_RATE_LIMITED", true],
  ["timeout_error", "MODEL_TIMEOUT", true],
  ["invalid_request_error", "MODEL_BAD_REQUEST", false],
  ["authentication_error", "MODEL_AUTH", false],
])("%s inside a stream that began with 200 is %s", (type, code, retryable) => {
  const error: Json = { type: "error", error: { type, message: "So it is." } };
  expect(() => chunks(begin, ...say, error)).toThrow(expect.objectContaining({ code, retryable }));
  expect(() => createDecoder().takeWhole(error, [])).toThrow(expect.objectContaining({ code }));
});

it("an unstreamed answer that is invalid is refused", () => {
  expect(() => createDecoder().takeWhole({}, [])).toThrow(expect.objectContaining({ code: "MODEL_PROTOCOL" }));
});
