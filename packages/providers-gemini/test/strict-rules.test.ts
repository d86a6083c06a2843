import type { ModelRequest } from "@loopwright/core/ports";
import { roughHistory } from "@loopwright/provider-kit/testing";
import { requestsOfLog } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { capabilitiesOf } from "../src/models.ts";
import { bodyOf } from "../src/request.ts";
import { violationsOf } from "./strict-rules.ts";

const user = { role: "user", parts: [{ text: "hi" }] };
const call = (name: string, id?: string) => ({ functionCall: { name, args: {}, ...(id ? { id } : {}) } });
const answer = (name: string, id?: string) => ({ functionResponse: { name, response: {}, ...(id ? { id } : {}) } });

describe("the strict rules of Gemini", () => {
  it("accept a plain tool turn", () => {
    const contents = [
      user,
      { role: "model", parts: [call("a", "1"), call("b", "2")] },
      { role: "user", parts: [answer("a", "1"), answer("b", "2")] },
    ];
    expect(violationsOf({ contents })).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["no contents", { contents: [] }, "contents are required"],
    ["an unknown field", { contents: [user], temperature: 1 }, "Unknown name"],
    ["a role of another vendor", { contents: [{ role: "assistant", parts: [{ text: "x" }] }] }, "valid role"],
    ["a turn without parts", { contents: [{ role: "user", parts: [] }] }, "at least one parts field"],
    ["an empty text", { contents: [{ role: "user", parts: [{ text: "" }] }] }, "text is empty"],
    ["a part with nothing in it", { contents: [{ role: "user", parts: [{ thought: true }] }] }, "exactly one"],
    ["a missing result", { contents: [user, { role: "model", parts: [call("a")] }, user] }, "not equal"],
    [
      "too few results",
      { contents: [user, { role: "model", parts: [call("a"), call("b")] }, { role: "user", parts: [answer("a")] }] },
      "not equal",
    ],
    [
      "results in another order",
      { contents: [user, { role: "model", parts: [call("a"), call("b")] }, { role: "user", parts: [answer("b"), answer("a")] }] },
      "order",
    ],
    ["an orphan result", { contents: [user, { role: "user", parts: [answer("a")] }] }, "after a function call turn"],
    [
      "a call after a model turn",
      {
        contents: [
          user,
          { role: "model", parts: [{ text: "x" }] },
          { role: "model", parts: [call("a")] },
          { role: "user", parts: [answer("a")] },
        ],
      },
      "after a user turn",
    ],
    [
      "an id twice",
      {
        contents: [
          user,
          { role: "model", parts: [call("a", "1"), call("b", "1")] },
          { role: "user", parts: [answer("a", "1"), answer("b", "1")] },
        ],
      },
      "twice",
    ],
    [
      "a result with another id",
      { contents: [user, { role: "model", parts: [call("a", "1")] }, { role: "user", parts: [answer("a", "2")] }] },
      "not that of its call",
    ],
    ["an end by the model", { contents: [user, { role: "model", parts: [{ text: "x" }] }] }, "must end with a user turn"],
    ["an empty tool list", { contents: [user], tools: [] }, "tools is empty"],
    ["a bad tool name", { contents: [user], tools: [{ functionDeclarations: [{ name: "1 a" }] }] }, "Invalid function name"],
    ["a tool twice", { contents: [user], tools: [{ functionDeclarations: [{ name: "a" }, { name: "a" }] }] }, "Duplicate"],
    [
      "a choice without tools",
      { contents: [user], toolConfig: { functionCallingConfig: { mode: "ANY" } } },
      "without function_declarations",
    ],
    [
      "level and budget",
      { contents: [user], generationConfig: { thinkingConfig: { thinkingLevel: "low", thinkingBudget: 1 } } },
      "both set",
    ],
  ])("refuse %s", (_, body, message) => {
    expect(violationsOf(body).join("\n")).toContain(message);
  });

  it("refuse a call without a signature where the model demands them", () => {
    const contents = [user, { role: "model", parts: [call("a")] }, { role: "user", parts: [answer("a")] }];
    expect(violationsOf({ contents }, { signed: true }).join()).toContain("thought_signature");
  });

  const models = ["gemini-2.5-flash", "gemini-3.8-flash", "gemini-4-argon"];
  const flawsOf = (request: ModelRequest): readonly string[] =>
    violationsOf(bodyOf(request, { capabilities: capabilitiesOf(request.model) }), { signed: request.model !== "gemini-2.5-flash" });

  it.each(models)("are kept by every request to %s that is built from a rough history", (model) => {
    const tools = ["look", "find-it"].map((name) => ({ name, description: "", parameters: { type: "object" } }));
    for (let seed = 0; seed < 300; seed++) {
      const flaws = flawsOf({ model, messages: roughHistory(seed), tools, toolChoice: seed % 2 ? "required" : { tool: "look" } });
      expect([seed, flaws]).toEqual([seed, []]);
    }
  });

  it("are kept by every request that the log of a session may lead to, at every prefix of it, to one model after the other", () => {
    for (let seed = 0; seed < 200; seed++) {
      const model = models[seed % models.length] ?? "";
      const flaws = requestsOfLog(seed).map((request) => flawsOf({ ...request, model }));
      expect({ seed, model, flaws }).toEqual({ seed, model, flaws: flaws.map(() => []) });
    }
  });
});
