import type { AssistantMessage, Message } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { answerWith, asked, call, canned, eventsOf } from "../test/canned.ts";
import { violationsOf } from "../test/strict-rules.ts";
import { capabilitiesOf } from "./models.ts";
import { bodyOf, type RequestContext } from "./request.ts";

const build = (request: Partial<ModelRequest>, context: Partial<RequestContext> = {}) => {
  const whole = { ...asked, ...request };
  return bodyOf(whole, { capabilities: capabilitiesOf(whole.model), ...context });
};
const tool = { name: "look", description: "Looks.", parameters: { properties: {} } };
const image = { type: "image", mediaType: "image/png", source: { data: "aGk=" } } as const;
const calls = (...names: readonly string[]): AssistantMessage => ({
  role: "assistant",
  stopReason: "tool_calls",
  content: names.map((name, at) => ({ type: "tool_call", callKey: `r.1.${at}`, id: `r.1.${at}`, name, args: {} })),
});
const result = (at: number, content: Extract<Message, { role: "tool_result" }>["content"], more = {}): Message => ({
  role: "tool_result",
  toolCallId: `r.1.${at}`,
  content,
  ...more,
});

describe("a request to Gemini", () => {
  it("holds nothing that was not set", () => {
    expect(build({ model: "gemini-2.0-flash", tools: [] })).toEqual({ contents: [{ role: "user", parts: [{ text: "hello" }] }] });
  });

  it("holds what was set, under the vendor's names", () => {
    const schema = { type: "object", properties: { n: { type: "number" } } };
    const body = build({
      system: [{ text: "Be brief.", source: "agent", cache: "stable" }],
      tools: [tool],
      toolChoice: "auto",
      maxTokens: 100,
      temperature: 0.5,
      reasoning: { budgetTokens: 2_000 },
      output: { name: "answer", schema },
    });
    expect(body).toMatchObject({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [
        { functionDeclarations: [{ name: "look", description: "Looks.", parametersJsonSchema: { type: "object", properties: {} } }] },
      ],
      toolConfig: { functionCallingConfig: { mode: "AUTO" } },
      generationConfig: {
        maxOutputTokens: 100,
        temperature: 0.5,
        responseMimeType: "application/json",
        responseJsonSchema: schema,
        thinkingConfig: { includeThoughts: true, thinkingBudget: 2_000 },
      },
    });
    expect(violationsOf(body)).toEqual([]);
  });

  it.each<[ModelRequest["toolChoice"], object]>([
    ["none", { mode: "NONE" }],
    ["required", { mode: "ANY" }],
    [{ tool: "look" }, { mode: "ANY", allowedFunctionNames: ["look"] }],
  ])("turns the tool choice %j into %j", (toolChoice, mode) => {
    expect(build({ tools: [tool], toolChoice: toolChoice ?? "auto" })["toolConfig"]).toEqual({ functionCallingConfig: mode });
    expect(build({ toolChoice: toolChoice ?? "auto" })).not.toHaveProperty("toolConfig");
  });

  it.each<[string, NonNullable<ModelRequest["reasoning"]>, object]>([
    ["gemini-2.5-pro", { effort: "high" }, { includeThoughts: true, thinkingBudget: 24_576 }],
    ["gemini-3.8-flash", { effort: "minimal" }, { includeThoughts: true, thinkingLevel: "low" }],
    ["gemini-3.5-flash", { effort: "minimal" }, { includeThoughts: true, thinkingLevel: "minimal" }],
    ["gemini-4-argon", { budgetTokens: 8_000 }, { includeThoughts: true, thinkingLevel: "medium" }],
  ])("asks %s for thinking %j as %j, never level and budget at once", (model, reasoning, thinkingConfig) => {
    expect(build({ model, reasoning })["generationConfig"]).toEqual({ thinkingConfig });
  });

  it("omits the temperature for models that ignore it, and thoughts when they are not wanted", () => {
    expect(build({ model: "gemini-4-argon", temperature: 1 }, { includeThoughts: false })).not.toHaveProperty("generationConfig");
    expect(build({ model: "gemma-4-31b-it" })).not.toHaveProperty("generationConfig");
  });

  it("has all results of a turn in one content, as many as calls and in their order, with equal ids", () => {
    const messages = [...asked.messages, calls("a", "b"), result(0, "one"), result(1, "two", { isError: true })];
    const body = build({ messages });
    expect(violationsOf(body)).toEqual([]);
    expect(body["contents"]).toMatchObject([
      { role: "user" },
      { role: "model", parts: [{ functionCall: { id: "r_1_0", name: "a" } }, { functionCall: { id: "r_1_1", name: "b" } }] },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "r_1_0", name: "a", response: { output: "one" } } },
          { functionResponse: { id: "r_1_1", name: "b", response: { error: "two" } } },
        ],
      },
    ]);
  });

  it("puts images of results inside them where the model takes that, else beside them", () => {
    const messages = [...asked.messages, calls("shoot"), result(0, [{ type: "json", value: { ok: true } }, image])];
    const inline = { inlineData: { mimeType: "image/png", data: "aGk=" } };
    expect(build({ model: "gemini-3.8-flash", messages })["contents"]).toMatchObject([
      {},
      {},
      { parts: [{ functionResponse: { response: { output: { ok: true } }, parts: [inline] } }] },
    ]);
    const beside = build({ messages });
    expect(violationsOf(beside)).toEqual([]);
    expect(beside["contents"]).toMatchObject([{}, {}, { parts: [{ functionResponse: {} }] }, { role: "user", parts: [{}, inline] }]);
  });

  it("sends signatures back on their own parts, and drops those of other vendors", () => {
    const own = { vendor: "gemini", data: { thoughtSignature: "s" } };
    const foreign = { vendor: "anthropic", data: { signature: "x" } };
    const messages: readonly Message[] = [
      ...asked.messages,
      {
        role: "assistant",
        stopReason: "stop",
        content: [
          { type: "thinking", text: "mine", opaque: own },
          { type: "thinking", text: "theirs", opaque: foreign },
          { type: "thinking", text: "unsigned" },
          { type: "opaque", vendor: "anthropic", data: { type: "redacted_thinking" } },
          { type: "opaque", vendor: "gemini", data: { part: { executableCode: { code: "1" } } } },
          { type: "text", text: "said", opaque: own },
          { type: "text", text: "plain", opaque: foreign },
        ],
      },
      { role: "notice", text: "Limit near." },
    ];
    expect(build({ messages })["contents"]).toEqual([
      { role: "user", parts: [{ text: "hello" }] },
      {
        role: "model",
        parts: [
          { text: "mine", thought: true, thoughtSignature: "s" },
          { executableCode: { code: "1" } },
          { text: "said", thoughtSignature: "s" },
          { text: "plain" },
        ],
      },
      { role: "user", parts: [{ text: "<system-notice>\nLimit near.\n</system-notice>" }] },
    ]);
  });

  it("sends a signature back on an empty text, and a placeholder for an empty message of the user", () => {
    const signed = { type: "text", text: "", opaque: { vendor: "gemini", data: { thoughtSignature: "s" } } } as const;
    const body = build({
      messages: [
        { role: "user", content: "" },
        { role: "assistant", content: [signed, { type: "text", text: "" }], stopReason: "stop" },
        { role: "user", content: "go on" },
      ],
    });
    expect(body["contents"]).toEqual([
      { role: "user", parts: [{ text: "(empty message)" }] },
      { role: "model", parts: [{ text: "", thoughtSignature: "s" }] },
      { role: "user", parts: [{ text: "go on" }] },
    ]);
    expect(violationsOf(body)).toEqual([]);
  });

  it("cleans the names of calls that no tool has, the same for call and result", () => {
    const messages: readonly Message[] = [asked.messages[0] as Message, calls("no such.tool!", "2nd"), result(0, "x"), result(1, "y")];
    const body = build({ messages });
    expect(body["contents"]).toMatchObject([
      {},
      { parts: [{ functionCall: { name: "no_such.tool_" } }, { functionCall: { name: "_2nd" } }] },
      { parts: [{ functionResponse: { name: "no_such.tool_" } }, { functionResponse: { name: "_2nd" } }] },
    ]);
    expect(violationsOf(body)).toEqual([]);
  });

  it("marks the first call of turns of other vendors if the model requires signatures", () => {
    const messages = [...asked.messages, calls("a", "b"), result(0, "1"), result(1, "2")];
    const body = build({ model: "gemini-3.8-flash", messages });
    expect(violationsOf(body, { signed: true })).toEqual([]);
    expect(body["contents"]).toMatchObject([{}, { parts: [{ thoughtSignature: "skip_thought_signature_validator" }, {}] }, {}]);
    expect(JSON.stringify(build({ messages }))).not.toContain("thoughtSignature");
  });

  it("sends back to the vendor what it sent, part by part", async () => {
    const parts = [
      { text: "hm", thought: true, thoughtSignature: "s0" },
      { text: "I look.", thoughtSignature: "s1" },
      { functionCall: { name: "look", args: { at: 1 }, id: "c1" }, thoughtSignature: "s2" },
      { functionCall: { name: "look", args: { at: 2 }, id: "c2" } },
    ];
    const { parts: content } = await call(canned(eventsOf(answerWith(parts))).fetch);
    const messages: readonly Message[] = [
      ...asked.messages,
      { role: "assistant", stopReason: "tool_calls", content },
      { role: "tool_result", toolCallId: "c1", content: "1" },
      { role: "tool_result", toolCallId: "c2", content: "2" },
    ];
    expect(build({ model: "gemini-3.8-flash", messages })["contents"]).toMatchObject([{}, { role: "model", parts }, {}]);
  });

  it("takes images and files by bytes and by address, and JSON as text", () => {
    const content = [
      { type: "json", value: { a: 1 } },
      image,
      { type: "file", mediaType: "application/pdf", source: { url: "https://example.com/a.pdf" } },
      { type: "file", mediaType: "application/json", name: "a.json", source: { data: "e30=" } },
    ] as const;
    expect(build({ messages: [{ role: "user", content }] })["contents"]).toEqual([
      {
        role: "user",
        parts: [
          { text: '{"a":1}' },
          { inlineData: { mimeType: "image/png", data: "aGk=" } },
          { fileData: { mimeType: "application/pdf", fileUri: "https://example.com/a.pdf" } },
          { text: "a.json:\n{}" },
        ],
      },
    ]);
  });

  it("joins vendor options to what is there", () => {
    const vendorOptions = { generationConfig: { topK: 40 }, labels: { team: "a" } };
    expect(build({ model: "gemini-2.0-flash", maxTokens: 5, vendorOptions })).toMatchObject({
      generationConfig: { maxOutputTokens: 5, topK: 40 },
      labels: { team: "a" },
    });
  });

  it("sends server tools beside functions, and neither when no tools are wanted", () => {
    const serverTools = [{ googleSearch: {} }];
    expect(build({ tools: [tool] }, { serverTools })["tools"]).toHaveLength(2);
    expect(build({ tools: [] }, { serverTools })["tools"]).toEqual(serverTools);
    expect(build({}, { serverTools })).not.toHaveProperty("tools");
    const without = { ...capabilitiesOf("gemma-4-31b-it"), tools: false };
    expect(build({ tools: [tool], toolChoice: "required" }, { capabilities: without })).not.toHaveProperty("tools");
  });

  it("renders each message once", () => {
    const messages = Array.from({ length: 50 }, (_, at): Message => ({ role: "user", content: `message ${at}` }));
    const first = build({ messages })["contents"] as readonly { parts: unknown }[];
    const second = build({ messages: [...messages, { role: "user", content: "new" }] })["contents"] as readonly { parts: unknown }[];
    expect(first.every(({ parts }, at) => parts === second[at]?.parts)).toBe(true);
  });
});
