import type { Json, JsonObject } from "@loopwright/core";
import { roughHistory } from "@loopwright/provider-kit/testing";
import { requestsOfLog } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { capabilitiesOf } from "../src/models.ts";
import { bodyOf } from "../src/request.ts";
import { violationsOf } from "./strict-rules.ts";

const say = (role: string, ...content: Json[]): JsonObject => ({ role, content });
const text = (words: string): JsonObject => ({ type: "text", text: words });
const use = (id: string): JsonObject => ({ type: "tool_use", id, name: "look", input: {} });
const result = (id: string): JsonObject => ({ type: "tool_result", tool_use_id: id, content: "ok" });
const serverUse: JsonObject = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
const serverResult: JsonObject = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
const ask = say("user", text("hello"));
const valid: JsonObject = { model: "claude-sonnet-4-6", max_tokens: 5, messages: [ask] };
const look: JsonObject = { name: "look", input_schema: { type: "object" } };
const withMessages = (...messages: Json[]): JsonObject => ({ ...valid, messages, tools: [look] });

describe("the strict rules", () => {
  it("accept a plain request", () => {
    expect(violationsOf(valid)).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ["an orphan result", withMessages(say("user", result("a")))],
    [
      "a result of a call before the last",
      withMessages(ask, say("assistant", use("a")), say("user", result("a")), say("assistant", text("x")), say("user", result("a"))),
    ],
    ["a missing result", withMessages(ask, say("assistant", use("a"), use("b")), say("user", result("a")))],
    ["a missing result at the end", withMessages(ask, say("assistant", use("a")))],
    ["two results of one call", withMessages(ask, say("assistant", use("a")), say("user", result("a"), result("a")))],
    ["a result behind text", withMessages(ask, say("assistant", use("a")), say("user", text("x"), result("a")))],
    [
      "calls with the same id",
      withMessages(ask, say("assistant", use("a")), say("user", result("a")), say("assistant", use("a")), say("user", result("a"))),
    ],
    ["a call with an illegal id", withMessages(ask, say("assistant", use("a.b")), say("user", result("a.b")))],
    ["empty text", withMessages(say("user", text(" ")))],
    ["no content", withMessages(say("user"))],
    ["no message", withMessages()],
    ["an assistant first", withMessages(say("assistant", text("x")), ask)],
    ["an unknown role", withMessages(ask, say("tool", text("x")))],
    ["a system message behind an assistant", withMessages(ask, say("assistant", text("x")), say("system", text("x")))],
    ["a system message before a user", withMessages(ask, say("system", text("x")), ask)],
    ["thinking at the end", withMessages(ask, say("assistant", { type: "thinking", thinking: "x", signature: "s" }), ask)],
    ["thinking without a signature", withMessages(ask, say("assistant", { type: "thinking", thinking: "x" }, text("x")), ask)],
    ["an image of an assistant", withMessages(ask, say("assistant", { type: "image", source: { type: "url", url: "x" } }), ask)],
    [
      "an image of a wrong type",
      withMessages(say("user", { type: "image", source: { type: "base64", media_type: "image/tiff", data: "" } })),
    ],
    ["a call by a wild name", withMessages(ask, say("assistant", { ...use("a"), name: "no such.tool!" }), say("user", result("a")))],
    ["a server tool's use without its result", withMessages(ask, say("assistant", serverUse, text("x")), ask)],
    ["a server tool's result without its use", withMessages(ask, say("assistant", serverResult, text("x")), ask)],
    [
      "a marked thinking block",
      withMessages(
        ask,
        say("assistant", { type: "thinking", thinking: "x", signature: "s", cache_control: { type: "ephemeral" } }, text("x")),
        ask,
      ),
    ],
    [
      "a tool loop that began without the thinking it goes on with",
      {
        ...withMessages(ask, say("assistant", use("a")), say("user", result("a"))),
        max_tokens: 5_000,
        thinking: { type: "enabled", budget_tokens: 2_000 },
      },
    ],
    ["input that is no object", withMessages(ask, say("assistant", { ...use("a"), input: "{}" }), say("user", result("a")))],
    ["calls without tools", { ...withMessages(ask, say("assistant", use("a")), say("user", result("a"))), tools: [] }],
    ["a union at the root of a schema", { ...valid, tools: [{ name: "a", input_schema: { type: "object", anyOf: [] } }] }],
    ["an answer begun for the model", withMessages(ask, say("assistant", text("x")))],
    ["five markers", withMessages(say("user", ...[1, 2, 3, 4, 5].map((n) => ({ ...text(`${n}`), cache_control: { type: "ephemeral" } }))))],
    ["no max_tokens", { model: "m", messages: [ask] }],
    ["a tool choice without tools", { ...valid, tool_choice: { type: "auto" } }],
    ["tools of the same name", { ...valid, tools: [1, 2].map(() => ({ name: "a", input_schema: { type: "object" } })) }],
    ["a schema that is no object's", { ...valid, tools: [{ name: "a", input_schema: {} }] }],
    [
      "a forced tool beside thinking",
      { ...valid, tools: [{ name: "a", input_schema: { type: "object" } }], tool_choice: { type: "any" }, thinking: { type: "adaptive" } },
    ],
    ["a budget over the limit", { ...valid, thinking: { type: "enabled", budget_tokens: 2_000 } }],
    ["a temperature for a model that refuses it", { ...valid, model: "claude-sonnet-5-5", temperature: 0.2 }],
    ["thinking switched off where it cannot be", { ...valid, model: "claude-opus-5-5", thinking: { type: "disabled" } }],
  ])("refuse %s", (_, body) => {
    expect(violationsOf(body)).not.toEqual([]);
  });

  const models = ["claude-sonnet-4-6", "claude-opus-4-8", "claude-sonnet-5-5", "claude-haiku-4-5"];
  const contextOf = (model: string) => ({ capabilities: capabilitiesOf(model), streaming: true });

  it.each(models)("accept 300 rough histories as built for %s", (model) => {
    for (let seed = 0; seed < 300; seed++) {
      const request = {
        model,
        messages: roughHistory(seed),
        reasoning: { effort: "high" },
        system: [{ text: "Be brief.", source: "agent", cache: "stable" }],
      } as const;
      expect({ seed, violations: violationsOf(bodyOf(request, contextOf(model))) }).toEqual({ seed, violations: [] });
    }
  });

  it("accept whatever the log of a session may lead to, at every prefix of it, as built for one model after the other", () => {
    for (let seed = 0; seed < 200; seed++) {
      const model = models[seed % models.length] ?? "";
      const bodies = requestsOfLog(seed).map((request) => bodyOf({ ...request, model, reasoning: { effort: "high" } }, contextOf(model)));
      expect({ seed, model, violations: bodies.map(violationsOf) }).toEqual({ seed, model, violations: bodies.map(() => []) });
    }
  });
});
