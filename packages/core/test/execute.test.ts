import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createAgent, createSession, createSimpleTool, defineTool, execute, resume } from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";
import { calm, type Deferred, deferred, eventsOf, ofType, world } from "./harness.ts";

const add = defineTool({
  name: "add",
  label: "Adder",
  description: "Adds two numbers.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a + b),
});

describe("an execution", () => {
  it("needs two calls and a provider", async () => {
    const session = createSession({ agent: createAgent({ name: "a", provider: scripted([{ text: "hello" }]) }) });
    const result = await execute(session, "hi").result();
    expect(result).toMatchObject({ status: "completed", text: "hello", finishReason: "stop" });
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("streams deltas whose sum is the text, framed by its start and its end", async () => {
    const { session } = world([{ text: "a longer answer" }]);
    const events = await eventsOf(execute(session, "hi"));
    const text = ofType(events, "text_delta").map(({ delta }) => delta);
    expect(text.length).toBeGreaterThan(2);
    expect(text.join("")).toBe("a longer answer");
    expect(ofType(events, "text_end")).toEqual([expect.objectContaining({ text: "a longer answer" })]);
    expect(events[0]?.type).toBe("session_start");
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["session_end", "execute_complete"]);
  });

  it("sends history, results in call order, and every tool", async () => {
    const slow = deferred();
    const waits = defineTool({
      name: "waits",
      description: "Waits.",
      parameters: { type: "object" },
      execute: async () => slow.promise.then(() => "slow"),
    });
    const quick = defineTool({
      name: "quick",
      description: "Is quick.",
      parameters: { type: "object" },
      execute: () => {
        slow.resolve();
        return "quick";
      },
    });
    const { session, provider } = world([{ calls: [{ name: "waits" }, { name: "quick" }] }, { text: "done" }], {
      tools: [waits, quick],
      prompt: "Be brief.",
    });
    const result = await execute(session, "go").result();
    const [first, second] = provider.requests;
    expect(first).toMatchObject({
      system: [{ text: "Be brief.", source: "agent", cache: "stable" }],
      messages: [{ role: "user", content: "go" }],
    });
    expect(first?.tools?.map(({ name }) => name)).toEqual(["waits", "quick"]);
    expect(second?.messages.slice(1).map((message) => ("toolName" in message ? message.toolName : message.role))).toEqual([
      "assistant",
      "waits",
      "quick",
    ]);
    expect(result.messages.map((message) => ("toolName" in message ? message.toolName : message.role))).toEqual([
      "user",
      "assistant",
      "waits",
      "quick",
      "assistant",
    ]);
  });

  it("runs the calls of one turn at once", async () => {
    const [left, right] = [deferred(), deferred()];
    const tool = (name: string, mine: Deferred<void>, other: Deferred<void>) =>
      defineTool({
        name,
        description: "Waits for the other.",
        parameters: { type: "object" },
        execute: async () => {
          mine.resolve();
          await other.promise;
          return name;
        },
      });
    const { session } = world([{ calls: [{ name: "left" }, { name: "right" }] }, { text: "met" }], {
      tools: [tool("left", left, right), tool("right", right, left)],
    });
    expect((await execute(session, "go").result()).text).toBe("met");
  });

  it("continues when the finish reason is wrong, and stops when there are no calls", async () => {
    const lying = world([{ calls: [{ name: "add", args: { a: 1, b: 2 } }], stopReason: "stop" }, { text: "3" }], { tools: [add] });
    expect((await execute(lying.session, "1+2").result()).text).toBe("3");
    const empty = world([{ text: "nothing to do", stopReason: "tool_calls" }], { tools: [add] });
    expect((await execute(empty.session, "x").result()).status).toBe("completed");
  });

  it("gives only new messages, and the whole history to the model", async () => {
    const { session, provider } = world([{ text: "one" }, { text: "two" }]);
    await execute(session, "first").result();
    const result = await execute(session, "second").result();
    expect(result.messages).toHaveLength(2);
    expect(provider.requests[1]?.messages).toHaveLength(3);
  });

  it("may be asked for its result without reading, after reading, and twice", async () => {
    const { session } = world([{ text: "one" }]);
    const stream = execute(session, "x");
    const first = await stream.result();
    await eventsOf(stream);
    expect(await stream.result()).toBe(first);
    expect(() => stream[Symbol.asyncIterator]()).toThrow(/being read already/);
  });

  it("names the input that it cannot use, and leaves the session as it was", async () => {
    const { session, types } = world([]);
    expect(() => execute(session, "  ")).toThrow(/empty/);
    expect(() => execute(session, { role: "assistant" } as never)).toThrow(/neither text/);
    expect(() => execute(session, { role: "user", content: JSON.parse('[{"type":"text","text":"x","__proto__":1}]') })).toThrow(
      /forbidden key/,
    );
    await expect(execute(session, [{ role: "tool_result", toolCallId: "x", content: "y" }]).result()).rejects.toMatchObject({
      code: "CALL_UNKNOWN",
    });
    expect(await types()).not.toContain("input.accepted");
  });

  it("uses the options of one request for that request only", async () => {
    const { session, provider } = world([{ text: "one" }, { text: "two" }, { text: "three" }]);
    await execute(session, "1").result();
    await execute(session, "2", { model: "other", temperature: 0.1 }).result();
    await execute(session, "3").result();
    expect(provider.requests.map(({ model, temperature }) => [model, temperature])).toEqual([
      ["scripted-1", undefined],
      ["other", 0.1],
      ["scripted-1", undefined],
    ]);
  });

  it("accepts an input once under its idempotency key", async () => {
    const { session, provider } = world([{ text: "one" }]);
    await execute(session, "pay", { idempotencyKey: "k" }).result();
    const replayed = await execute(session, "pay", { idempotencyKey: "k" }).result();
    expect(replayed).toMatchObject({ status: "completed", text: "one" });
    expect(provider.requests).toHaveLength(1);
    await expect(execute(session, "pay more", { idempotencyKey: "k" }).result()).rejects.toMatchObject({ code: "KEY_REUSED" });
  });

  it("shows details to the application only", async () => {
    const tool = createSimpleTool({ name: "find", description: "Finds.", parameters: { type: "object" } }, async () => ({
      output: "found",
      details: { secret: 7 },
    }));
    const { session, provider } = world([{ calls: [{ name: "find" }] }, { text: "ok" }], { tools: [tool] });
    const events = await eventsOf(execute(session, "x"));
    expect(ofType(events, "tool_execution_end")[0]).toMatchObject({ details: { secret: 7 }, outcome: "ok" });
    expect(ofType(events, "tool_execution_start")[0]).toMatchObject({ toolName: "find", args: {} });
    const [, , result] = provider.requests[1]?.messages ?? [];
    expect(result).toMatchObject({ role: "tool_result", content: [{ type: "text", text: "found" }] });
  });

  it("adds up usage and cost over calls and executions", async () => {
    const usage = { input: 10, cacheRead: 5, output: 2 };
    const prices = { costOf: () => ({ totalUsd: 0.5 }) };
    const { session } = world([{ calls: [{ name: "add", args: { a: 1, b: 2 } }], usage }, { text: "3", usage }, { text: "4" }], {
      tools: [add],
      prices,
    });
    const first = await execute(session, "x").result();
    expect(first.usage).toEqual({ input: 20, cacheRead: 10, output: 4 });
    expect(first.cost).toEqual({ totalUsd: 1 });
    const second = await execute(session, "y").result();
    // The vendor did not count the last answer.
    expect(second.usage).toEqual({ input: expect.any(Number), output: 1, source: "estimated" });
    const input = 20 + (second.usage?.input ?? 0);
    expect(session.totalUsage).toEqual({ input, cacheRead: 10, output: 5, source: "estimated" });
    expect(session.totalCost).toEqual({ totalUsd: 1.5, partial: true });
    expect(session.contextTokens).toBe((second.usage?.input ?? 0) + 1);
  });

  it("ends as an error with a readable message when the model refuses", async () => {
    const { session } = world([{ text: "I ca", stopReason: "error", stopReasonRaw: "refusal", message: "Declined for safety." }]);
    const result = await execute(session, "x").result();
    expect(result).toMatchObject({ status: "error", finishReason: "error" });
    expect(result.error).toMatchObject({ code: "MODEL_REFUSED", message: "Declined for safety." });
    expect(session.status).toBe("error");
  });

  it("never causes an unhandled rejection when nothing reads it", async () => {
    const { session } = world([{ error: "MODEL_AUTH" }]);
    execute(session, "x");
    await calm();
    expect(session.status).toBe("error");
  });

  it("ends at once when there is nothing to resume", async () => {
    const { session } = world([{ text: "one" }]);
    await execute(session, "x").result();
    const events = await eventsOf(resume(session));
    expect(events.map(({ type }) => type)).toEqual(["session_start", "session_end", "execute_complete"]);
    expect(events.at(-1)).toMatchObject({ status: "completed" });
  });

  it("replaces the deltas that a slow reader missed by a snapshot", async () => {
    const text = "x".repeat(1_500_000);
    const release = deferred();
    const { session } = world([{ text, chunkSize: 1_000, chunks: [], hang: false }, { text: "next" }], {});
    const stream = execute(session, "x");
    await stream.result();
    release.resolve();
    const events = await eventsOf(stream);
    const kept = ofType(events, "text_delta").length;
    expect(kept).toBeLessThan(1_500);
    expect(ofType(events, "message_end").some(({ message }) => JSON.stringify(message).includes(text))).toBe(true);
  });
});
