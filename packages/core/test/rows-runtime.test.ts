/* The loop as an agent runtime sees it: rows C01 to C03. */
import { describe, expect, it } from "vitest";
import { defineTool, execute, type Tool, textOf } from "../src/index.ts";
import { world } from "./harness.ts";

const look: Tool = defineTool({
  name: "look",
  description: "Looks something up.",
  parameters: { type: "object", properties: { word: { type: "string" } } },
  execute: ({ word }) => `the meaning of ${String(word)}`,
});
const call = (word: string) => ({ name: "look", id: word, args: { word } });

describe("the loop", () => {
  it("C01: sends prompt, history, message and tools, runs each call of an answer, appends the results and asks again until there is text alone", async () => {
    const { session, provider } = world(
      [{ text: "Hello." }, { text: "I look.", calls: [call("a"), call("b")] }, { calls: [call("c")] }, { text: "All three." }],
      { prompt: "Be brief.", tools: [look] },
    );
    await execute(session, "Hi.").result();
    expect(await execute(session, "Look up a, b and c.").result()).toMatchObject({ status: "completed", text: "All three." });
    const shown = (at: number): readonly string[] =>
      provider.requests[at]?.messages.map((message) => `${message.role}: ${textOf(message)}`) ?? [];
    const begun = ["user: Hi.", "assistant: Hello.", "user: Look up a, b and c."];
    const looked = [...begun, "assistant: I look.", "tool_result: the meaning of a", "tool_result: the meaning of b"];
    expect([0, 1, 2, 3].map(shown)).toEqual([["user: Hi."], begun, looked, [...looked, "assistant: ", "tool_result: the meaning of c"]]);
    expect(provider.requests.map(({ system, tools }) => [system?.[0]?.text, tools?.[0]?.name])).toEqual(
      Array.from({ length: 4 }, () => ["Be brief.", "look"]),
    );
    expect(session.messages.map((message) => textOf(message))).toEqual([
      "Hi.",
      "Hello.",
      "Look up a, b and c.",
      "I look.",
      "the meaning of a",
      "the meaning of b",
      "",
      "the meaning of c",
      "All three.",
    ]);
  });

  it("C02: runs calls that come with the stop reason `stop`, and ends without calls whatever the stop reason is", async () => {
    const { session, provider } = world(
      [
        { calls: [call("a")], stopReason: "stop" },
        { text: "Done.", stopReason: "tool_calls" },
      ],
      {
        tools: [look],
      },
    );
    expect(await execute(session, "Look.").result()).toMatchObject({ status: "completed", text: "Done." });
    expect(provider.requests).toHaveLength(2);
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool_result", "assistant"]);
  });

  it("C03: ends with a typed error that has the number of turns where the policy is `error`, and keeps the transcript until then", async () => {
    const { session, provider } = world(() => ({ text: "Once more.", calls: [call("a")] }), {
      tools: [look],
      limits: { turnsMax: 3, onLimit: "error" },
    });
    const { status, error } = await execute(session, "Look.").result();
    expect(status).toBe("error");
    expect(error).toMatchObject({ code: "LIMIT_REACHED", message: expect.stringContaining("3") });
    expect(provider.requests).toHaveLength(3);
    const turn = ["assistant: Once more.", "tool_result: the meaning of a"];
    expect(session.messages.map((message) => `${message.role}: ${textOf(message)}`)).toEqual(["user: Look.", ...turn, ...turn, ...turn]);
  });
});
