import type { AssistantMessage, AssistantPart, JsonObject, Message, ToolResultMessage } from "@loopwright/core";
import type { ModelCapabilities, ModelRequest } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { capabilitiesOf } from "../src/models.ts";
import { bodyOf, type RequestContext } from "../src/request.ts";
import { violationsOf } from "./strict-rules.ts";

const tool = { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } } as const;
const call = (id: string, callKey: string): AssistantPart => ({ type: "tool_call", id, callKey, name: "look", args: { at: 1 } });
const assistant = (...content: AssistantPart[]): AssistantMessage => ({ role: "assistant", content, stopReason: "stop" });
const text = (words: string): AssistantPart => ({ type: "text", text: words });
const result = (toolCallId: string, content: ToolResultMessage["content"] = "seen"): ToolResultMessage => ({
  role: "tool_result",
  toolCallId,
  content,
});
const user = (content: string): Message => ({ role: "user", content });
const pixel = { type: "image", mediaType: "image/png", source: { data: "aGk=" } } as const;

function body(request: Partial<ModelRequest>, context: Partial<RequestContext> & { can?: Partial<ModelCapabilities> } = {}): JsonObject {
  const model = request.model ?? "claude-sonnet-4-6";
  const { can, ...rest } = context;
  const made = bodyOf(
    { model, messages: [user("hello")], ...request },
    { capabilities: capabilitiesOf(model, can), streaming: true, ...rest },
  );
  expect(violationsOf(made)).toEqual([]);
  return made;
}

describe("A44: three cache markers", () => {
  const turns = [user("one"), assistant(text("two")), user("three"), assistant(text("four")), user("five")];
  const markers = (made: JsonObject): number => JSON.stringify(made).split('"cache_control":{"type":"ephemeral"}').length - 1;
  const asked = (messages: readonly Message[], model = "claude-sonnet-4-6"): JsonObject =>
    body({ model, messages, system: [{ text: "Be brief.", source: "agent", cache: "stable" }], tools: [{ ...tool, name: "first" }, tool] });

  it("stand at the end of system and of tools when there is one message", () => {
    const made = asked(turns.slice(0, 1));
    expect(made["system"]).toEqual([{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }]);
    expect(made["tools"]).toEqual([
      expect.not.objectContaining({ cache_control: expect.anything() }),
      expect.objectContaining({ cache_control: { type: "ephemeral" } }),
    ]);
    expect(markers(made)).toBe(2);
  });

  it.each([
    [2, [...turns.slice(0, 1), { role: "notice", text: "Mind the limit." }], "claude-opus-4-8"],
    [3, turns.slice(0, 3), "claude-sonnet-4-6"],
    [5, turns, "claude-sonnet-4-6"],
  ] as const)("stand also on the last block of the second-to-last of %i messages", (count, history, model) => {
    const made = asked(history, model);
    expect(made["messages"]).toHaveLength(count);
    const messages = made["messages"] as readonly { content: readonly JsonObject[] }[];
    expect(messages.at(-2)?.content.at(-1)).toHaveProperty("cache_control", { type: "ephemeral" });
    expect(markers(made)).toBe(3);
  });

  it("stand also at the end of the parts of one session, and are never more than four", () => {
    const stable = ["Be brief.", "Be kind."].map((one) => ({ text: one, source: "agent", cache: "stable" }) as const);
    const session = ["Of this shop.", "Today."].map((one) => ({ text: one, source: "place", cache: "session" }) as const);
    const made = body({ model: "claude-sonnet-4-6", messages: turns, system: [...stable, ...session], tools: [tool] });
    expect(made["system"]).toEqual([
      { type: "text", text: "Be brief.\n\nBe kind.", cache_control: { type: "ephemeral" } },
      { type: "text", text: "Of this shop.\n\nToday.", cache_control: { type: "ephemeral" } },
    ]);
    expect(markers(made)).toBe(4);
    expect(markers(body({ model: "claude-sonnet-4-6", messages: turns, system: session, tools: [tool] }))).toBe(3);
    expect(markers(body({ model: "claude-sonnet-4-6", messages: turns, system: stable, tools: [tool] }))).toBe(3);
  });

  it("A45: are sent for a tiny prompt, too", () => {
    expect(markers(body({ system: [{ text: "x", source: "agent", cache: "stable" }] }))).toBe(1);
  });

  it("A62: are not sent without prompt caching", () => {
    expect(
      JSON.stringify(
        body(
          { messages: turns, system: [{ text: "x", source: "agent", cache: "stable" }], tools: [tool] },
          { can: { promptCaching: false } },
        ),
      ),
    ).not.toContain("cache_control");
  });

  it("leave the rendered messages as they were, so that a marker never stays behind", () => {
    const history = turns.slice(0, 3);
    asked(history);
    expect(markers(body({ messages: [...history, assistant(text("more")), user("end")] }, { can: {} }))).toBe(1);
  });

  it("live for an hour where asked", () => {
    expect(body({ system: [{ text: "x", source: "agent", cache: "stable" }] }, { cacheTtl: "1h" })["system"]).toEqual([
      { type: "text", text: "x", cache_control: { type: "ephemeral", ttl: "1h" } },
    ]);
  });
});

describe("A37: limits and temperature", () => {
  it.each([
    ["claude-sonnet-5-5", 128_000],
    ["claude-haiku-4-5-20251001", 64_000],
    ["claude-opus-4-20250514", 32_000],
    ["claude-3-haiku-20240307", 4_096],
    ["some-compatible-model", 8_192],
  ])("%s is allowed its own maximum of %i tokens, because the vendor demands a number", (model, expected) => {
    expect(body({ model })["max_tokens"]).toBe(expected);
  });

  it("what the agent sets reaches the wire", () => {
    expect(body({ maxTokens: 77, temperature: 0.5 })).toMatchObject({ max_tokens: 77, temperature: 0.5, stream: true });
  });

  it("nothing is sent that was not set", () => {
    expect(Object.keys(body({})).sort()).toEqual(["max_tokens", "messages", "model", "stream"]);
    expect(body({}, { streaming: false })).not.toHaveProperty("stream");
  });

  it.each(["claude-opus-4-7", "claude-sonnet-5", "claude-sonnet-5-5", "claude-opus-6"])(
    "the temperature is left out for %s, which refuses it",
    (model) => {
      expect(body({ model, temperature: 0.5 })).not.toHaveProperty("temperature");
    },
  );

  it("the temperature is left out beside thinking", () => {
    expect(body({ temperature: 0.5, reasoning: { effort: "low" } })).not.toHaveProperty("temperature");
  });

  it("vendor options are merged last, as they are", () => {
    expect(body({ maxTokens: 5, vendorOptions: { max_tokens: 6, metadata: { user_id: "u" } } })).toMatchObject({
      max_tokens: 6,
      metadata: { user_id: "u" },
    });
  });
});

describe("thinking", () => {
  const drops = { block_binding: { prefix_mismatch_behavior: "drop_block" } };

  it("that no longer fits what stands before it is dropped, or refused where asked", () => {
    const { thinking } = body({ model: "claude-opus-5-5" }, { staleThinking: "error", thinkingDisplay: "omitted" });
    expect(thinking).toEqual({ type: "adaptive", display: "omitted" });
  });

  it.each([
    ["claude-sonnet-5-5", {}, { type: "adaptive", display: "summarized", ...drops }, undefined],
    ["claude-opus-5", {}, { type: "adaptive", display: "summarized" }, undefined],
    ["claude-fable-5", {}, { type: "adaptive", display: "summarized" }, undefined],
    ["claude-opus-5-5", { effort: "minimal" }, { type: "adaptive", display: "summarized", ...drops }, { effort: "low" }],
    ["claude-opus-4-8", { effort: "high" }, { type: "adaptive", display: "summarized" }, { effort: "high" }],
    ["claude-sonnet-4-5", { effort: "low" }, { type: "enabled", budget_tokens: 4_096 }, undefined],
    ["claude-sonnet-4-5", { budgetTokens: 2_000 }, { type: "enabled", budget_tokens: 2_000 }, undefined],
    ["claude-sonnet-4-5", { budgetTokens: 500 }, { type: "enabled", budget_tokens: 1_024 }, undefined],
    ["claude-opus-4-8", { budgetTokens: 500 }, { type: "adaptive", display: "summarized" }, { effort: "low" }],
  ] as const)("%s with %o is asked in its own form", (model, reasoning, thinking, config) => {
    const made = body({ model, reasoning });
    expect(made["thinking"]).toEqual(thinking);
    expect(made["output_config"]).toEqual(config);
  });

  it("is not asked of a model that only thinks when asked", () => {
    expect(body({ model: "claude-opus-4-8" })).not.toHaveProperty("thinking");
  });

  it("is refused of a model that is not known to think", () => {
    for (const model of ["claude-3-5-haiku-latest", "another-model"]) {
      expect(() => body({ model, reasoning: { effort: "high" } })).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
    }
  });

  it("has a budget below the limit of the answer, and is refused where there is no room", () => {
    const model = "claude-haiku-4-5";
    expect(body({ model, maxTokens: 2_000, reasoning: { effort: "high" } })["thinking"]).toEqual({ type: "enabled", budget_tokens: 1_999 });
    expect(() => body({ model, maxTokens: 1_024, reasoning: { effort: "high" } })).toThrow(
      expect.objectContaining({ code: "MODEL_UNSUPPORTED" }),
    );
  });

  it("of a budget is not begun in the middle of a tool loop that did not think", () => {
    const messages = [user("go"), assistant(call("a", "r.1.0")), result("a")];
    expect(body({ model: "claude-haiku-4-5", messages, tools: [tool], reasoning: { effort: "high" } })).not.toHaveProperty("thinking");
  });

  it("is switched off for a forced tool where it can be, and the force is refused where it cannot", () => {
    const forced = { tools: [tool], toolChoice: { tool: "look" } } as const;
    expect(body({ model: "claude-opus-5", ...forced })).toMatchObject({
      thinking: { type: "disabled" },
      tool_choice: { type: "tool", name: "look" },
    });
    expect(body({ model: "claude-opus-4-8", ...forced, reasoning: { effort: "high" } })).not.toHaveProperty("thinking");
    expect(() => body({ model: "claude-sonnet-5-5", ...forced })).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
  });
});

describe("tools", () => {
  it("are described with an object schema, and without an empty description", () => {
    const made = body({ tools: [{ name: "t", description: "", parameters: { properties: {} } }] }, { can: { promptCaching: false } });
    expect(made["tools"]).toEqual([{ name: "t", input_schema: { type: "object", properties: {} } }]);
  });

  it.each([
    ["auto", undefined, { type: "auto" }],
    ["required", undefined, { type: "any" }],
    ["none", false, { type: "none" }],
    [undefined, false, { type: "auto", disable_parallel_tool_use: true }],
    ["required", false, { type: "any", disable_parallel_tool_use: true }],
    [undefined, true, undefined],
  ] as const)("chosen as %s with parallel calls %s give %o", (toolChoice, parallelToolCalls, expected) => {
    const choice = { ...(toolChoice ? { toolChoice } : {}), ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }) };
    expect(body({ tools: [tool], ...choice })["tool_choice"]).toEqual(expected);
  });

  it("A41: leave no key behind when there are none, or when the model has none", () => {
    for (const made of [
      body({ parallelToolCalls: false, toolChoice: "auto" }),
      body({ tools: [tool], toolChoice: "auto" }, { can: { tools: false } }),
    ]) {
      expect(made).not.toHaveProperty("tools");
      expect(made).not.toHaveProperty("tool_choice");
    }
  });

  it("that were called and are not offered any more are named and may not be called", () => {
    const messages = [user("go"), assistant(call("a", "r.1.0")), result("a"), user("sum up")];
    expect(body({ messages }, { can: { promptCaching: false } })).toMatchObject({
      tools: [{ name: "look", input_schema: { type: "object" } }],
      tool_choice: { type: "none" },
    });
  });

  it("whose arguments are a union get one object that admits each of its branches", () => {
    const parameters = {
      $defs: {},
      anyOf: [
        {
          type: "object",
          properties: { kind: { const: "a" }, at: { type: "number" } },
          required: ["kind", "at"],
          additionalProperties: false,
        },
        { type: "object", properties: { kind: { const: "b" } }, required: ["kind"] },
      ],
    };
    expect(body({ tools: [{ ...tool, parameters }] }, { can: { promptCaching: false } })["tools"]).toMatchObject([
      {
        input_schema: {
          type: "object",
          $defs: {},
          properties: { kind: { anyOf: [{ const: "a" }, { const: "b" }] }, at: { type: "number" } },
          required: ["kind"],
        },
      },
    ]);
  });

  it("of the vendor stand alone for an agent without its own", () => {
    const made = body({}, { serverTools: [{ type: "web_search_20260318", name: "web_search" }], can: { promptCaching: false } });
    expect(made["tools"]).toEqual([{ type: "web_search_20260318", name: "web_search" }]);
    expect(made).not.toHaveProperty("tool_choice");
  });

  it("of the vendor stand behind the agent's own", () => {
    const made = body({ tools: [tool] }, { serverTools: [{ type: "web_search_20260318", name: "web_search" }] });
    expect(made["tools"]).toMatchObject([{ name: "look" }, { name: "web_search", cache_control: { type: "ephemeral" } }]);
  });
});

it("structured output closes every object of the schema and leaves values alone", () => {
  const schema = { type: "object", properties: { a: { type: "object", properties: {} }, b: { enum: [{ type: "object" }] } } };
  expect(body({ output: { name: "answer", schema } })["output_config"]).toEqual({
    format: {
      type: "json_schema",
      schema: {
        type: "object",
        properties: { a: { type: "object", properties: {}, additionalProperties: false }, b: { enum: [{ type: "object" }] } },
        additionalProperties: false,
      },
    },
  });
});

describe("history", () => {
  const messagesOf = (messages: readonly Message[], model = "claude-sonnet-4-6"): unknown =>
    body({ model, messages, tools: [tool] }, { can: { promptCaching: false } })["messages"];

  it("joins the user's messages and puts results first", () => {
    const history = [
      user("go"),
      assistant(call("a", "r.1.0"), call("b", "r.1.1")),
      result("a"),
      { ...result("b", ""), isError: true },
      user("and?"),
    ];
    expect(messagesOf(history)).toEqual([
      { role: "user", content: [{ type: "text", text: "go" }] },
      { role: "assistant", content: [expect.objectContaining({ id: "a", input: { at: 1 } }), expect.objectContaining({ id: "b" })] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "seen" },
          { type: "tool_result", tool_use_id: "b", is_error: true },
          { type: "text", text: "and?" },
        ],
      },
    ]);
  });

  it("gives calls ids that are legal and unique, and their results the same", () => {
    const history = [
      user("go"),
      assistant(call("a.b", "r.1.0")),
      result("a.b"),
      assistant(call("a.b", "r.2.0")),
      { ...result("a.b"), callKey: "r.2.0" },
    ];
    const made = messagesOf(history) as readonly { content: readonly JsonObject[] }[];
    expect(made.map(({ content }) => content[0]?.["id"] ?? content[0]?.["tool_use_id"])).toEqual([
      undefined,
      "a_b",
      "a_b",
      "r_2_0",
      "r_2_0",
    ]);
  });

  it("keeps images in tool results and structured data as text", () => {
    const made = messagesOf([
      user("go"),
      assistant(call("a", "r.1.0")),
      result("a", [{ type: "text", text: "see" }, pixel, { type: "json", value: { n: 1 } }]),
    ]);
    expect(made).toMatchObject([
      {},
      {},
      {
        content: [
          {
            content: [
              { text: "see" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
              { text: '{"n":1}' },
            ],
          },
        ],
      },
    ]);
  });

  it("sends documents: PDF as it is, text decoded", () => {
    const pdf = { type: "file", mediaType: "application/pdf", name: "a.pdf", source: { url: "https://example.com/a.pdf" } } as const;
    const plain = { type: "file", mediaType: "text/markdown", source: { data: Buffer.from("# é").toString("base64") } } as const;
    expect(messagesOf([{ role: "user", content: [pdf, plain] }])).toEqual([
      {
        role: "user",
        content: [
          { type: "document", source: { type: "url", url: "https://example.com/a.pdf" }, title: "a.pdf" },
          { type: "document", source: { type: "text", media_type: "text/plain", data: "# é" } },
        ],
      },
    ]);
  });

  it.each([
    [{ ...pixel, mediaType: "image/tiff" }],
    [{ ...pixel, source: { blob: "k" } }],
    [{ type: "file", mediaType: "application/zip", source: { data: "aGk=" } }],
  ] as const)("refuses %o before any request", (part) => {
    expect(() => body({ messages: [{ role: "user", content: [part] }] })).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
  });

  it("A62: refuses an image where the model has no vision", () => {
    const messages: readonly Message[] = [{ role: "user", content: [pixel] }];
    body({ messages });
    expect(() => body({ messages }, { can: { vision: false } })).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
  });

  it("replays its own thinking, citations and server blocks verbatim and drops what is another vendor's", () => {
    const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } };
    const found = {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [{ type: "web_search_result", encrypted_content: "e" }],
    };
    const cited = { type: "web_search_result_location", cited_text: "c", encrypted_index: "i" };
    const written = assistant(
      { type: "thinking", text: "hm", opaque: { vendor: "anthropic", data: { signature: "sig" } } },
      { type: "thinking", text: "foreign", opaque: { vendor: "gemini", data: "x" } },
      { type: "thinking", text: "unsigned" },
      { type: "opaque", vendor: "anthropic", data: { type: "redacted_thinking", data: "r" } },
      { type: "opaque", vendor: "openai-responses", data: { type: "reasoning" } },
      { type: "opaque", vendor: "anthropic", data: search },
      { type: "opaque", vendor: "anthropic", data: found },
      { type: "text", text: "it is", opaque: { vendor: "anthropic", data: { citations: [cited] } } },
    );
    expect(messagesOf([user("go"), written, user("on")])).toMatchObject([
      {},
      {
        content: [
          { type: "thinking", thinking: "hm", signature: "sig" },
          { type: "redacted_thinking", data: "r" },
          search,
          found,
          { type: "text", text: "it is", citations: [cited] },
        ],
      },
      {},
    ]);
  });

  it("drops thinking at the end of a stopped answer, and the answer if nothing else is left", () => {
    const thought: AssistantPart = { type: "thinking", text: "hm", opaque: { vendor: "anthropic", data: { signature: "s" } } };
    expect(messagesOf([user("go"), assistant(text("well"), thought), user("on"), assistant(thought), user("end")])).toEqual([
      { role: "user", content: [{ type: "text", text: "go" }] },
      { role: "assistant", content: [{ type: "text", text: "well" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "on" },
          { type: "text", text: "end" },
        ],
      },
    ]);
  });

  it("drops a server tool use that was interrupted, but not one that the next request continues", () => {
    const use: AssistantPart = {
      type: "opaque",
      vendor: "anthropic",
      data: { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
    };
    expect(messagesOf([user("go"), assistant(text("wait"), use), user("on")])).toMatchObject([{}, { content: [{ text: "wait" }] }, {}]);
    expect(messagesOf([user("go"), assistant(text("wait"), use)])).toMatchObject([
      {},
      { content: [{ text: "wait" }, { type: "server_tool_use" }] },
    ]);
    const notice: Message = { role: "notice", text: "The limit is near." };
    const open = [user("go"), assistant(use, call("a", "r.1.0")), result("a")];
    expect(messagesOf(open)).toMatchObject([{}, { content: [{ type: "server_tool_use" }, { type: "tool_use" }] }, {}]);
    expect(messagesOf([...open, notice])).toMatchObject([{}, { content: [{ type: "tool_use" }] }, {}]);
  });

  it("cleans the name of a call that no tool has", () => {
    const wild: AssistantPart = { type: "tool_call", id: "a", callKey: "r.1.0", name: "no such.tool!", args: {} };
    expect(messagesOf([user("go"), assistant(wild), result("a")])).toMatchObject([{}, { content: [{ name: "no_such_tool_" }] }, {}]);
  });

  it("renders a notice as marked text of the user, behind the results", () => {
    const notice: Message = { role: "notice", text: "The limit is near." };
    expect(messagesOf([user("go"), assistant(call("a", "r.1.0")), result("a"), notice])).toMatchObject([
      {},
      {},
      { role: "user", content: [{ type: "tool_result" }, { type: "text", text: "<system-notice>\nThe limit is near.\n</system-notice>" }] },
    ]);
  });

  it("renders a notice as a system message where the model and its place allow it, as text elsewhere", () => {
    const notice: Message = { role: "notice", text: "The limit is near." };
    const history = [user("go"), assistant(call("a", "r.1.0")), result("a"), notice];
    const system = { role: "system", content: [{ type: "text", text: "The limit is near." }] };
    expect(messagesOf(history, "claude-opus-4-8")).toMatchObject([{}, {}, { role: "user" }, system]);
    expect(messagesOf([...history, assistant(text("ok")), user("on")], "claude-opus-4-8")).toMatchObject([
      {},
      {},
      {},
      system,
      { role: "assistant" },
      {},
    ]);
    expect(messagesOf([...history, user("on")], "claude-opus-4-8")).toMatchObject([
      {},
      {},
      { content: [{}, { text: expect.stringContaining("system-notice") }, { text: "on" }] },
    ]);
    expect(messagesOf([user("go"), assistant(text("ok")), notice], "claude-opus-4-8")).toMatchObject([{}, {}, { role: "user" }]);
  });

  it("never sends empty text", () => {
    expect(messagesOf([user("  "), assistant(text("")), { role: "user", content: [{ type: "text", text: "" }] }])).toEqual([
      { role: "user", content: [{ type: "text", text: "(empty message)" }] },
    ]);
  });
});
