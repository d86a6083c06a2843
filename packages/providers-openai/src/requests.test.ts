import type { JsonObject, Message } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { createChatRequests } from "./chat-request.ts";
import { knownServers, type OpenAiCompat, otherServer } from "./compat.ts";
import { capabilitiesOf, defaultModel } from "./models.ts";
import { settingsOf } from "./options.ts";
import { createResponsesRequests } from "./responses-request.ts";

const server = (label: string): OpenAiCompat => ({ ...otherServer, ...knownServers.find((each) => each.label === label)?.compat });
const openAi = server("OpenAI");
const user: Message = { role: "user", content: "Hi" };
const plain: ModelRequest = { model: "gpt-4.1", messages: [user] };
const chat = (request: Partial<ModelRequest>, compat = openAi): JsonObject => createChatRequests(compat)({ ...plain, ...request });
const responses = (request: Partial<ModelRequest>): JsonObject => createResponsesRequests(settingsOf({}, {}))({ ...plain, ...request });

const look = { name: "look", description: "Looks.", parameters: { type: "object", properties: { a: { type: "string" } } } };
const closedLook = { ...look, parameters: { ...look.parameters, required: ["a"], additionalProperties: false } };
const asked: Message = {
  role: "assistant",
  content: [{ type: "tool_call", callKey: "run.1.0", id: "call_1", name: "look", args: { a: "b" } }],
  stopReason: "tool_calls",
};
const found: Message = { role: "tool_result", toolCallId: "call_1", content: "found" };

describe("a request of chat completions", () => {
  it("A37, B63: sends the limit in the server's own field and nothing that was not set", () => {
    expect(chat({ maxTokens: 5, temperature: 0.5 })).toMatchObject({ max_completion_tokens: 5, temperature: 0.5 });
    expect(chat({ maxTokens: 5 }, otherServer)).toMatchObject({ max_tokens: 5 });
    expect(Object.keys(chat({}))).toEqual(["model", "messages", "stream", "stream_options"]);
  });

  it("A37: leaves the temperature out for models that refuse it", () => {
    for (const model of ["gpt-6.1-sol", "gpt-5-mini", "o4-mini"]) expect(chat({ model, temperature: 1 })).not.toHaveProperty("temperature");
    expect(chat({ model: "gpt-5-chat-latest", temperature: 1 })).toHaveProperty("temperature");
  });

  it("B05: shows tools by name, description and JSON schema, strict where the schema allows it", () => {
    const shown = (strict: object) => [
      { type: "function", function: { name: "look", description: "Looks.", parameters: expect.anything(), ...strict } },
    ];
    expect(chat({ tools: [look], toolChoice: { tool: "look" }, parallelToolCalls: false })).toMatchObject({
      tools: shown({}),
      tool_choice: { type: "function", function: { name: "look" } },
      parallel_tool_calls: false,
    });
    expect(chat({ tools: [closedLook] })["tools"]).toEqual(shown({ strict: true }));
    expect(chat({ tools: [closedLook] }, otherServer)["tools"]).toEqual(shown({}));
  });

  it("B05: keeps enums, nulls and nested lists of a schema as they are", () => {
    const parameters = {
      type: "object",
      properties: {
        kind: { enum: ["a", "b"] },
        note: { type: ["string", "null"] },
        grid: { type: "array", items: { type: "array", items: { type: "number" } } },
      },
      required: ["kind"],
    };
    expect(chat({ tools: [{ ...look, parameters }] })["tools"]).toEqual([{ type: "function", function: { ...look, parameters } }]);
  });

  it("puts the system prompt and notices where the server wants them", () => {
    const messages: readonly Message[] = [user, { role: "notice", text: "Mind the limit." }];
    expect(chat({ system: [{ text: "Be brief.", source: "agent", cache: "stable" }], messages })["messages"]).toEqual([
      { role: "developer", content: "Be brief." },
      { role: "user", content: "Hi" },
      { role: "developer", content: expect.stringContaining("Mind the limit.") },
    ]);
    expect(chat({ system: [{ text: "Be brief.", source: "agent", cache: "stable" }], messages }, otherServer)["messages"]).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
      { role: "user", content: expect.stringContaining("Mind the limit.") },
    ]);
  });

  it("sends images and files in, and the images of a result after the last result", () => {
    const image = { type: "image", mediaType: "image/png", source: { data: "aGk=" } } as const;
    const pdf = { type: "file", mediaType: "application/pdf", name: "a.pdf", source: { data: "aGk=" } } as const;
    const note = { type: "file", mediaType: "text/plain", name: "a.txt", source: { data: "aMOp" } } as const;
    const messages: readonly Message[] = [
      { role: "user", content: [image, pdf, note, { type: "image", mediaType: "image/png", source: { url: "https://x.test/a.png" } }] },
      { ...asked, content: [...asked.content, { type: "tool_call", callKey: "run.1.1", id: "call_2", name: "look", args: {} }] },
      { ...found, content: [{ type: "text", text: "see" }, image] },
      { ...found, toolCallId: "call_2" },
    ];
    const [first, , one, two, three] = chat({ messages })["messages"] as readonly JsonObject[];
    expect(first?.["content"]).toEqual([
      { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,aGk=" } },
      { type: "text", text: "a.txt:\nhé" },
      { type: "image_url", image_url: { url: "https://x.test/a.png" } },
    ]);
    expect([one?.["role"], two?.["role"], three?.["role"]]).toEqual(["tool", "tool", "user"]);
    expect(three?.["content"]).toContainEqual({ type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } });
  });

  it("asks for JSON of a schema, by the prompt where the server knows no schemas", () => {
    const output = { name: "answer", schema: closedLook.parameters };
    expect(chat({ output })["response_format"]).toEqual({ type: "json_schema", json_schema: { ...output, strict: true } });
    expect(chat({ output: { ...output, schema: look.parameters } })).toMatchObject({ response_format: { json_schema: { strict: false } } });
    const deepSeek = chat({ output }, server("DeepSeek"));
    expect(deepSeek["response_format"]).toEqual({ type: "json_object" });
    expect(JSON.stringify(deepSeek["messages"])).toContain("JSON Schema");
  });

  it("sends reasoning back where the server wants it, in the field it came in, and drops foreign reasoning", () => {
    const thought = (vendor: string): Message => ({
      role: "assistant",
      content: [
        {
          type: "thinking",
          text: "hm",
          opaque: { vendor, data: { field: "reasoning_content", details: [{ type: "reasoning.text", text: "hm" }] } },
        },
        { type: "text", text: "Well" },
      ],
      stopReason: "stop",
    });
    const sent = (label: string, vendor = "openai-chat") =>
      (chat({ messages: [user, thought(vendor), user] }, server(label))["messages"] as JsonObject[])[1];
    expect(sent("DeepSeek")).toEqual({ role: "assistant", content: "Well", reasoning_content: "hm" });
    expect(sent("OpenRouter")).toEqual({ role: "assistant", content: "Well", reasoning_details: [{ type: "reasoning.text", text: "hm" }] });
    expect(sent("OpenAI")).toEqual({ role: "assistant", content: "Well" });
    expect(sent("DeepSeek", "anthropic")).toEqual({ role: "assistant", content: "Well" });
  });

  it.each<[string, object]>([
    ["OpenAI", { reasoning_effort: "low" }],
    ["OpenRouter", { reasoning: { effort: "low" } }],
    ["DeepSeek", { thinking: { type: "enabled" } }],
  ])("asks %s for reasoning in its own way", (label, wanted) => {
    expect(chat({ model: "gpt-6.1-sol", reasoning: { effort: "low" } }, server(label))).toMatchObject(wanted);
    expect(() => chat({ reasoning: { effort: "low" } }, server("Mistral"))).toThrow(
      expect.objectContaining({ code: "MODEL_UNSUPPORTED", message: expect.stringContaining("server") }),
    );
  });

  it("gives an id that comes again in a later turn another one, the same for call and result", () => {
    const messages: readonly Message[] = [
      user,
      asked,
      found,
      { ...asked, content: [{ ...asked.content[0], callKey: "run.2.0" }] } as Message,
      { ...found },
    ];
    const sent = chat({ messages })["messages"] as readonly JsonObject[];
    const ids = sent.flatMap((message) => (message["tool_calls"] as readonly JsonObject[] | undefined)?.map((each) => each["id"]) ?? []);
    expect(ids).toEqual(["call_1", "call_run_2_0"]);
    expect(sent.filter((message) => message["role"] === "tool").map((message) => message["tool_call_id"])).toEqual(ids);
  });

  it("makes nothing anew of a message that it has seen", () => {
    const bodyOf = createChatRequests(openAi);
    const messages = [user, asked, found];
    const first = bodyOf({ ...plain, messages })["messages"] as readonly JsonObject[];
    const second = bodyOf({ ...plain, messages: [...messages, { role: "user", content: "more" }] })["messages"] as readonly JsonObject[];
    for (const [at, message] of first.entries()) expect(second[at]).toBe(message);
  });

  it("merges vendor options last, as they are", () => {
    expect(chat({ vendorOptions: { service_tier: "flex", stream_options: { include_usage: false } } })).toMatchObject({
      service_tier: "flex",
      stream_options: { include_usage: false },
    });
  });

  it("A46: leaves caching to the server, with a key where it takes one", () => {
    expect(chat({ cacheKey: "s" })).toMatchObject({ prompt_cache_key: "s" });
    expect(chat({ cacheKey: "s" }, otherServer)).not.toHaveProperty("prompt_cache_key");
  });
});

describe("a request of responses", () => {
  const item = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "abc" };

  it("stores nothing with the vendor and asks a model that reasons for its encrypted reasoning", () => {
    expect(
      responses({
        model: "gpt-6.1-sol",
        system: [{ text: "Be brief.", source: "agent", cache: "stable" }],
        maxTokens: 1,
        reasoning: { effort: "minimal" },
      }),
    ).toEqual({
      model: "gpt-6.1-sol",
      input: [{ role: "user", content: "Hi" }],
      stream: true,
      store: false,
      instructions: "Be brief.",
      include: ["reasoning.encrypted_content"],
      max_output_tokens: 16,
      reasoning: { effort: "low" },
    });
    expect(responses({ model: "gpt-4.1" })).not.toHaveProperty("include");
  });

  it("replays reasoning items and the tools the vendor ran verbatim and in place", () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed" };
    const messages: readonly Message[] = [
      user,
      {
        ...asked,
        content: [
          { type: "thinking", text: "hm", opaque: { vendor: "openai-responses", data: item } },
          { type: "opaque", vendor: "openai-responses", data: search },
          { type: "text", text: "Let me see.", opaque: { vendor: "openai-responses", data: { phase: "commentary" } } },
          ...asked.content,
        ],
      } as Message,
      found,
    ];
    expect(responses({ messages })["input"]).toEqual([
      { role: "user", content: "Hi" },
      item,
      search,
      { role: "assistant", content: "Let me see.", phase: "commentary" },
      { type: "function_call", call_id: "call_1", name: "look", arguments: '{"a":"b"}' },
      { type: "function_call_output", call_id: "call_1", output: "found" },
    ]);
  });

  it("drops reasoning of others, without its content, or without what followed from it", () => {
    const thinking = (data: object, vendor = "openai-responses") => ({ type: "thinking", text: "hm", opaque: { vendor, data } });
    const answer = (...content: object[]): Message => ({ role: "assistant", content, stopReason: "stop" }) as Message;
    const text = { type: "text", text: "Well" };
    const sent = (...content: object[]) => responses({ messages: [user, answer(...content), user] })["input"];
    const bare = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Well" },
      { role: "user", content: "Hi" },
    ];
    expect(sent(thinking({ signature: "x" }, "anthropic"), text)).toEqual(bare);
    expect(sent(thinking({ ...item, encrypted_content: null }), text)).toEqual(bare);
    expect(sent(text, thinking(item))).toEqual(bare);
    expect(sent({ type: "thinking", text: "hm" }, text)).toEqual(bare);
  });

  it("sends `strict` with each tool, because the API defaults to true", () => {
    expect(responses({ tools: [look, closedLook] })["tools"]).toMatchObject([{ strict: false }, { strict: true }]);
  });

  it("asks for JSON of a schema", () => {
    const schema = closedLook.parameters;
    expect(responses({ output: { name: "answer", schema } })["text"]).toEqual({
      format: { type: "json_schema", name: "answer", schema, strict: true },
    });
  });

  it("sends a result's images inside the result", () => {
    const image = { type: "image", mediaType: "image/png", source: { data: "aGk=" } } as const;
    const input = responses({ messages: [user, asked, { ...found, content: [{ type: "text", text: "see" }, image] }] })[
      "input"
    ] as readonly JsonObject[];
    expect(input.at(-1)?.["output"]).toEqual([
      { type: "input_text", text: "see" },
      { type: "input_image", image_url: "data:image/png;base64,aGk=", detail: "auto" },
    ]);
  });

  it("sends a custom tool's call and result back as such", () => {
    const custom = {
      ...asked,
      content: [{ ...asked.content[0], args: { input: "free text" }, opaque: { vendor: "openai-responses", data: { custom: true } } }],
    } as Message;
    expect((responses({ messages: [user, custom, found] })["input"] as readonly JsonObject[]).slice(1)).toEqual([
      { type: "custom_tool_call", call_id: "call_1", name: "look", input: "free text" },
      { type: "custom_tool_call_output", call_id: "call_1", output: "found" },
    ]);
  });
});

describe("the models", () => {
  it("C06: has a default that the table knows, with its window", () => {
    expect(capabilitiesOf(defaultModel, openAi)).toMatchObject({
      tools: true,
      vision: true,
      contextTokens: 1_050_000,
      outputTokensMax: 128_000,
    });
  });

  it("A41, A62: names no window that it does not know, and keeps a server's tools and vision off", () => {
    expect(capabilitiesOf("a-new-model", otherServer)).toEqual({ streaming: true, tools: true, vision: true, promptCaching: true });
    expect(capabilitiesOf("sonar", server("Perplexity"))).toMatchObject({ tools: false });
    expect(chat({ tools: [look] }, server("Perplexity"))).not.toHaveProperty("tools");
    expect(capabilitiesOf("openai/gpt-3.5-turbo", otherServer)).toMatchObject({ vision: false });
  });
});
