import type { Json, JsonObject } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";
import { roughHistory } from "@loopwright/provider-kit/testing";
import { requestsOfLog } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { capabilitiesOf } from "../src/models.ts";
import { bodyOf } from "../src/request.ts";
import { violationsOf } from "./strict-rules.ts";

const ask: JsonObject = { role: "user", content: "hello" };
const use = (id: string): JsonObject => ({
  role: "assistant",
  content: "",
  tool_calls: [{ id, function: { name: "look", arguments: {} } }],
});
const result = (id: string): JsonObject => ({ role: "tool", content: "ok", tool_name: "look", tool_call_id: id });
const valid: JsonObject = { model: "qwen3:4b", messages: [ask, use("a"), result("a")], stream: true };
const withMessages = (...messages: Json[]): JsonObject => ({ ...valid, messages });

describe("the strict rules", () => {
  it("accept a plain request", () => {
    expect(violationsOf(valid)).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ["an orphan result", withMessages(ask, result("a"))],
    ["a missing result", withMessages(ask, use("a"), ask)],
    ["a missing result at the end", withMessages(ask, use("a"))],
    ["a result of another call", withMessages(ask, use("a"), result("b"))],
    ["a result of another tool", withMessages(ask, use("a"), { ...result("a"), tool_name: "see" })],
    ["calls with the same id", withMessages(ask, use("a"), result("a"), use("a"), result("a"))],
    [
      "arguments as text",
      withMessages(ask, { role: "assistant", content: "", tool_calls: [{ function: { name: "look", arguments: "{}" } }] }, result("a")),
    ],
    ["a second system message", withMessages(ask, { role: "system", content: "x" })],
    ["two users in a row", withMessages(ask, ask)],
    ["empty words", withMessages({ role: "user", content: "" })],
    ["an empty answer", withMessages(ask, { role: "assistant", content: "" })],
    ["content in parts", withMessages({ role: "user", content: [{ type: "text", text: "x" }] })],
    ["an image by its address", withMessages({ ...ask, images: ["https://example.com/a.png"] })],
    ["no message", withMessages()],
    ["an unknown role", withMessages({ role: "developer", content: "x" })],
    ["a tool choice", { ...valid, tool_choice: "auto" }],
    ["a tool without a schema", { ...valid, tools: [{ type: "function", function: { name: "look" } }] }],
    ["a limit that is no integer", { ...valid, options: { num_predict: 1.5 } }],
    ["a level of thinking that is none", { ...valid, think: "minimal" }],
  ])("refuse %s", (_, body) => {
    expect(violationsOf(body)).not.toEqual([]);
  });

  const capabilities = capabilitiesOf("qwen3:4b", { vision: true });
  const flawsOf = (request: ModelRequest): readonly string[] =>
    violationsOf(bodyOf({ ...request, model: "qwen3:4b" }, { capabilities, streaming: true }));

  it("accept 500 rough histories as they are built", () => {
    for (let seed = 0; seed < 500; seed++)
      expect([
        seed,
        flawsOf({ model: "", messages: roughHistory(seed), system: [{ text: "Be brief.", source: "agent", cache: "stable" }] }),
      ]).toEqual([seed, []]);
  });

  it("accept whatever the log of a session may lead to, at every prefix of it", () => {
    for (let seed = 0; seed < 200; seed++) {
      const flaws = requestsOfLog(seed).map(flawsOf);
      expect({ seed, flaws }).toEqual({ seed, flaws: flaws.map(() => []) });
    }
  });
});
