import type { JsonObject, JsonSchema } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";
import { roughHistory } from "@loopwright/provider-kit/testing";
import { requestsOfLog } from "@loopwright/testing";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createChatRequests } from "../src/chat-request.ts";
import { knownServers, type OpenAiCompat, otherServer } from "../src/compat.ts";
import { settingsOf } from "../src/options.ts";
import { createResponsesRequests } from "../src/responses-request.ts";
import { violationsOf } from "./strict-rules.ts";

const call = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "{}" } });
const item = (id: string) => ({ type: "function_call", call_id: id, name: "look", arguments: "{}" });
const user = { role: "user", content: "Hi" };
const chat = (...messages: object[]) => ({ model: "m", messages });
const responses = (...input: object[]) => ({ model: "m", store: false, input });

describe("the strict rules", () => {
  it.each<[string, object]>([
    ["a result nobody asked for", chat(user, { role: "tool", tool_call_id: "a", content: "x" })],
    ["a call without its result", chat(user, { role: "assistant", tool_calls: [call("a")] }, user)],
    ["a call without its result at the end", chat(user, { role: "assistant", tool_calls: [call("a")] })],
    [
      "a result after another message",
      chat(user, { role: "assistant", tool_calls: [call("a")] }, user, { role: "tool", tool_call_id: "a", content: "x" }),
    ],
    ["an id of two calls", chat({ role: "assistant", tool_calls: [call("a"), call("a")] })],
    [
      "an id of 41 characters",
      chat({ role: "assistant", tool_calls: [call("a".repeat(41))] }, { role: "tool", tool_call_id: "a".repeat(41), content: "x" }),
    ],
    ["an empty list of calls", chat(user, { role: "assistant", content: "x", tool_calls: [] })],
    ["an empty text", chat({ role: "user", content: "" })],
    ["an empty text part", chat({ role: "user", content: [{ type: "text", text: "" }] })],
    [
      "an image of a tool",
      chat({ role: "assistant", tool_calls: [call("a")] }, { role: "tool", tool_call_id: "a", content: [{ type: "image_url" }] }),
    ],
    ["a role of another vendor", chat({ role: "model", content: "x" })],
    ["no messages", chat()],
    ["an empty list of tools", { ...chat(user), tools: [] }],
    ["a tool setting without tools", { ...chat(user), tool_choice: "auto" }],
    [
      "parameters without properties",
      { ...chat(user), tools: [{ type: "function", function: { name: "a", parameters: { type: "object" } } }] },
    ],
    [
      "a strict tool with an open object",
      {
        ...chat(user),
        tools: [{ type: "function", function: { name: "a", strict: true, parameters: { type: "object", properties: {} } } }],
      },
    ],
    ["an output nobody asked for", responses(user, { type: "function_call_output", call_id: "a", output: "x" })],
    ["a call without output", responses(user, item("a"))],
    ["two calls of one id", responses(item("a"), item("a"), { type: "function_call_output", call_id: "a", output: "x" })],
    ["reasoning without what followed", responses(user, { type: "reasoning", encrypted_content: "x" })],
    ["reasoning that is not stored anywhere", responses(user, { type: "reasoning", id: "rs" }, { role: "assistant", content: "x" })],
    ["text of the wrong side", responses({ role: "user", content: [{ type: "output_text", text: "x" }] })],
  ])("catch %s", (_, body) => {
    expect(violationsOf(body)).not.toEqual([]);
  });
});

const parameters: JsonSchema = { type: "object", properties: { a: { type: "string" } } };
const closed: JsonSchema = { ...parameters, required: ["a"], additionalProperties: false };
const setting = fc.record(
  {
    system: fc.constantFrom([], [{ text: "Be brief.", source: "agent", cache: "stable" as const }]),
    tools: fc.constantFrom([], [{ name: "look", description: "", parameters }], [{ name: "look", description: "d", parameters: closed }]),
    toolChoice: fc.constantFrom("auto" as const, "required" as const, { tool: "look" }),
    parallelToolCalls: fc.boolean(),
    maxTokens: fc.constantFrom(1, 1_000),
    temperature: fc.constant(0.5),
    reasoning: fc.constantFrom({ effort: "minimal" as const }, { budgetTokens: 100 }),
    output: fc.constantFrom({ name: "answer", schema: parameters }, { name: "answer", schema: { ...closed, $schema: "x" } }),
    cacheKey: fc.constant("session"),
  },
  { requiredKeys: [] },
);
const history = fc.nat().map(roughHistory);
const refusedReasoning = /does not reason|does not take options for reasoning/;
const model = fc.constantFrom("gpt-6.1-sol", "gpt-4.1", "o4-mini", "llama");

describe("a request from any valid history", () => {
  const servers: readonly (readonly [string, OpenAiCompat])[] = [
    ["another server", otherServer],
    ...knownServers.map(({ label, compat }) => [label, { ...otherServer, ...compat }] as const),
  ];

  it.each(servers)("keeps the strict rules of chat completions, as %s wants them", (_, compat) => {
    const bodyOf = createChatRequests(compat);
    fc.assert(
      fc.property(history, setting, model, (messages, settings, name) => {
        const request: ModelRequest = { model: name, messages, ...settings };
        const isRefused = settings.parallelToolCalls === false && compat.tools && !compat.parallelToolCalls;
        if (isRefused && settings.tools !== undefined && settings.tools.length > 0) {
          expect(() => bodyOf(request)).toThrow("one tool call at a time");
          return;
        }
        if (settings.reasoning && (compat.reasoning === "none" || name === "gpt-4.1")) {
          expect(() => bodyOf(request)).toThrow(refusedReasoning);
          return;
        }
        const body = bodyOf(request);
        expect(violationsOf(JSON.parse(JSON.stringify(body)))).toEqual([]);
        expect(bodyOf(request)).toEqual(body);
        expect(createChatRequests(compat)(request)).toEqual(body);
        if (compat.callIds === "nine") expect(idsOf(body).every((id) => /^[A-Za-z0-9]{9}$/.test(id))).toBe(true);
        if (!compat.userAfterTool) expect(pairsOf(body)).not.toContain("tool user");
        if (!compat.userAfterUser) expect(pairsOf(body)).not.toContain("user user");
      }),
      { numRuns: 60 },
    );
  });

  it("keeps the strict rules of responses", () => {
    const settings = settingsOf({ apiKey: "k" }, {});
    const bodyOf = createResponsesRequests(settings);
    fc.assert(
      fc.property(history, setting, model, (messages, more, name) => {
        const request: ModelRequest = { model: name, messages, ...more };
        if (more.reasoning && name === "gpt-4.1") {
          expect(() => bodyOf(request)).toThrow(refusedReasoning);
          return;
        }
        const body = bodyOf(request);
        expect(violationsOf(JSON.parse(JSON.stringify(body)))).toEqual([]);
        expect(createResponsesRequests(settings)(request)).toEqual(body);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a request that the log of a session may lead to, at any prefix of it,", () => {
  it("keeps the strict rules of responses, and of chat completions as one server after the other wants them", () => {
    const responsesOf = createResponsesRequests(settingsOf({ apiKey: "k" }, {}));
    const servers = [otherServer, ...knownServers.map(({ compat }) => ({ ...otherServer, ...compat }))].map(createChatRequests);
    for (let seed = 0; seed < 200; seed++) {
      const chatOf = servers[seed % servers.length] ?? responsesOf;
      // Each request after the one before it, as in a real process.
      const flaws = requestsOfLog(seed).flatMap((request) =>
        [responsesOf, chatOf].map((bodyOf) => violationsOf(bodyOf({ ...request, model: "gpt-6.1-sol" }))),
      );
      expect({ seed, flaws }).toEqual({ seed, flaws: flaws.map(() => []) });
    }
  });
});

function messagesOf(body: JsonObject): readonly JsonObject[] {
  return Array.isArray(body["messages"]) ? body["messages"] : [];
}

function pairsOf(body: JsonObject): readonly string[] {
  const roles = messagesOf(body).map((message) => String(message["role"]));
  return roles.slice(1).map((role, at) => `${roles[at]} ${role}`);
}

function idsOf(body: JsonObject): readonly string[] {
  return messagesOf(body).flatMap((message) => {
    const calls = Array.isArray(message["tool_calls"]) ? message["tool_calls"].map((each: JsonObject) => String(each["id"])) : [];
    return typeof message["tool_call_id"] === "string" ? [...calls, message["tool_call_id"]] : calls;
  });
}
