import type { AssistantMessage, AssistantPart, Message, ToolResultMessage } from "@loopwright/core";
import type { ModelCapabilities, ModelRequest } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { capabilitiesOf } from "../src/models.ts";
import { bodyOf, type RequestContext } from "../src/request.ts";
import { violationsOf } from "./strict-rules.ts";

const tool = { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } } as const;
const call = (id: string, callKey: string): AssistantPart => ({ type: "tool_call", id, callKey, name: "look", args: { at: 1 } });
const assistant = (...content: AssistantPart[]): AssistantMessage => ({ role: "assistant", content, stopReason: "stop" });
const result = (toolCallId: string, content: ToolResultMessage["content"] = "seen"): ToolResultMessage => ({
  role: "tool_result",
  toolCallId,
  content,
});
const user = (content: string): Message => ({ role: "user", content });
const pixel = { type: "image", mediaType: "image/png", source: { data: "aGk=" } } as const;

function body(
  request: Partial<ModelRequest>,
  context: Partial<RequestContext> & { can?: Partial<ModelCapabilities> } = {},
): ReturnType<typeof bodyOf> {
  const model = request.model ?? "qwen3:4b";
  const { can, ...rest } = context;
  const made = bodyOf(
    { model, messages: [user("hello")], ...request },
    { capabilities: capabilitiesOf(model, can), streaming: true, ...rest },
  );
  expect(violationsOf(made)).toEqual([]);
  return made;
}

const messagesOf = (messages: readonly Message[], can: Partial<ModelCapabilities> = { vision: true }): unknown =>
  body({ messages }, { can })["messages"];

describe("A37: the request", () => {
  it("holds nothing that was not set", () => {
    expect(body({})).toEqual({ model: "qwen3:4b", messages: [{ role: "user", content: "hello" }], stream: true });
  });

  it("holds what the agent sets", () => {
    const schema = { type: "object" } as const;
    const made = body(
      {
        system: [{ text: "Be brief.", source: "agent", cache: "stable" }],
        maxTokens: 7,
        temperature: 0,
        output: { name: "answer", schema },
        tools: [tool],
        vendorOptions: { think: false },
      },
      { contextTokens: 32_768, keepAlive: "10m", streaming: false },
    );
    expect(made).toEqual({
      model: "qwen3:4b",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello" },
      ],
      tools: [{ type: "function", function: tool }],
      format: schema,
      options: { num_ctx: 32_768, num_predict: 7, temperature: 0 },
      keep_alive: "10m",
      stream: false,
      think: false,
    });
  });

  it.each([
    ["qwen3:4b", { effort: "low" }, true],
    ["gpt-oss:20b", { effort: "minimal" }, "low"],
    ["gpt-oss:20b", { effort: "high" }, "high"],
    ["gpt-oss:20b", {}, "medium"],
  ] as const)("asks %s to think at %o by %s", (model, reasoning, think) => {
    expect(body({ model, reasoning })["think"]).toBe(think);
  });

  it("A41: leaves tools out where there are none, where the model has none and where none may be called", () => {
    for (const made of [
      body({ toolChoice: "auto" }),
      body({ model: "gemma3:4b", tools: [tool] }),
      body({ tools: [tool], toolChoice: "none" }),
    ]) {
      expect(made).not.toHaveProperty("tools");
    }
  });

  it("cannot force a tool and refuses to", () => {
    expect(() => body({ tools: [tool], toolChoice: "required" })).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
    expect(body({ tools: [tool], toolChoice: "auto", parallelToolCalls: true })).not.toHaveProperty("tool_choice");
  });
});

describe("history", () => {
  it("gives each result the id and the name of its call, though the ids of calls repeat", () => {
    const history = [
      user("go"),
      assistant(call("same", "r.1.0")),
      result("same"),
      assistant(call("same", "r.2.0")),
      { ...result("same"), callKey: "r.2.0" },
    ];
    const asked = (id: string): unknown => ({
      role: "assistant",
      content: "",
      tool_calls: [{ type: "function", id, function: { index: 0, name: "look", arguments: { at: 1 } } }],
    });
    const answered = (id: string): unknown => ({ role: "tool", content: "seen", tool_name: "look", tool_call_id: id });
    expect(messagesOf(history)).toEqual([
      { role: "user", content: "go" },
      asked("r.1.0"),
      answered("r.1.0"),
      asked("r.2.0"),
      answered("r.2.0"),
    ]);
  });

  it("sends its own thinking back and drops what is another vendor's", () => {
    const written = assistant(
      { type: "thinking", text: "mine", opaque: { vendor: "ollama", data: {} } },
      { type: "thinking", text: "foreign", opaque: { vendor: "anthropic", data: {} } },
      { type: "opaque", vendor: "anthropic", data: {} },
      { type: "text", text: "so" },
    );
    expect(messagesOf([user("go"), written, user("on")])).toMatchObject([{}, { role: "assistant", content: "so", thinking: "mine" }, {}]);
  });

  it("joins the user's messages, with a notice as marked text", () => {
    const history: readonly Message[] = [user("one"), assistant(), user("two"), { role: "notice", text: "Mind the limit." }];
    expect(messagesOf(history)).toEqual([{ role: "user", content: "one\n\ntwo\n\n<system-notice>\nMind the limit.\n</system-notice>" }]);
  });

  it("sends images, structured data and text files", () => {
    const file = { type: "file", mediaType: "text/csv", name: "a.csv", source: { data: Buffer.from("é,1").toString("base64") } } as const;
    const history: readonly Message[] = [
      { role: "user", content: [{ type: "text", text: "see" }, pixel, file] },
      assistant(call("a", "r.1.0")),
      result("a", [pixel, { type: "json", value: [1] }]),
    ];
    expect(messagesOf(history)).toMatchObject([
      { role: "user", content: 'see\n<file name="a.csv">\né,1\n</file>', images: ["aGk="] },
      {},
      { role: "tool", content: "[1]", images: ["aGk="] },
    ]);
  });

  it.each([
    [{ ...pixel, source: { url: "https://example.com/a.png" } }],
    [{ ...pixel, source: { blob: "k" } }],
    [{ type: "file", mediaType: "application/pdf", source: { data: "aGk=" } }],
  ] as const)("refuses %o before any request", (part) => {
    expect(() => messagesOf([{ role: "user", content: [part] }])).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
  });

  it.each([
    ["gemma3:4b", true],
    ["gemma3:1b", false],
    ["registry.example/library/qwen3-vl:8b", true],
    ["qwen3:4b", false],
  ])("A62: %s is held to see: %s", (model, sees) => {
    const ask = (): unknown => body({ model, messages: [{ role: "user", content: [pixel] }] });
    if (sees) expect(ask).not.toThrow();
    else expect(ask).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
  });
});
