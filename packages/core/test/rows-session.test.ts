import { describe, expect, it } from "vitest";
import { createSession, defineTool, execute, type Hooks, systemText, textOf } from "../src/index.ts";
import { fixedPrices } from "../src/memory/index.ts";
import { calm, eventsOf, ofType, world } from "./harness.ts";

const object = { type: "object" } as const;
const act = defineTool({ name: "act", description: "Acts.", parameters: object, execute: () => "done" });
const pick = defineTool({ name: "pick", description: "Asks the person.", parameters: object });

describe("a session", () => {
  it("A02: has every message in its log before its end is published", async () => {
    const { session, store } = world([{ text: "one", calls: [{ name: "act" }] }, { text: "two" }], { tools: [act] });
    let checked = 0;
    for await (const event of execute(session, "go")) {
      if (event.type !== "message_end") continue;
      const facts = await store.log.read({ scope: "local", session: session.id });
      expect(facts.some(({ seq }) => seq === event.seq)).toBe(true);
      checked++;
    }
    expect(checked).toBe(4);
  });

  it("D22: shows its status, its last model, its messages and its costs in every phase", async () => {
    const prices = fixedPrices({ "scripted-1": { inputUsd: 1, outputUsd: 2 }, big: { inputUsd: 10, outputUsd: 20 } });
    const usage = { input: 1_000_000, output: 500_000 };
    const script = [
      { text: "one", usage },
      { calls: [{ name: "pick", id: "c1" }], usage },
      { text: "three", usage },
      { error: "MODEL_AUTH" },
    ];
    const { session } = world(script as never, { tools: [pick], prices });
    expect(session).toMatchObject({ status: "completed", model: undefined, messages: [], totalCost: undefined, pendingToolCalls: [] });
    const first = execute(session, "1");
    await calm();
    expect((await first.result()).cost).toEqual({ totalUsd: 2 });
    expect(session).toMatchObject({ status: "completed", model: "scripted-1", totalCost: { totalUsd: 2 } });
    const second = await execute(session, "2", { model: "big" }).result();
    expect(second.cost).toEqual({ totalUsd: 20 });
    expect(session).toMatchObject({ status: "awaiting_tool_execution", model: "big", pendingToolCalls: [{ toolCallId: "c1" }] });
    const third = await execute(session, [{ role: "tool_result", toolCallId: "c1", content: "blue" }]).result();
    expect(third.cost).toEqual({ totalUsd: 20 });
    expect(session.totalCost).toEqual({ totalUsd: 42 });
    await execute(session, "4").result();
    expect(session.status).toBe("error");
    expect(session.messages).toHaveLength(7);
  });

  it("D07: asks once for all calls that wait, each with its own deadline", async () => {
    const calls = [{ name: "pick" }, { name: "soon" }, { name: "later" }];
    const soon = defineTool({ name: "soon", description: "Is urgent.", parameters: object, timeoutMs: 1_000 });
    const later = defineTool({ name: "later", description: "Has time.", parameters: object, timeoutMs: 9_000 });
    const { session, clock } = world([{ calls }, { text: "done" }], { tools: [pick, soon, later] });
    const events = await eventsOf(execute(session, "go"));
    const now = clock.now();
    expect(ofType(events, "awaiting_tool_execution").map(({ toolCalls }) => toolCalls.map(({ deadline }) => deadline))).toEqual([
      [undefined, now + 1_000, now + 9_000],
    ]);
    clock.advance(1_001);
    await calm();
    expect(session.pendingToolCalls.map(({ toolName }) => toolName)).toEqual(["pick", "later"]);
    clock.advance(8_000);
    await calm();
    expect(session.pendingToolCalls.map(({ toolName }) => toolName)).toEqual(["pick"]);
  });

  it("A01: has its prompt made for each request, and every request has the history in order and all tools", async () => {
    let count = 0;
    const { session, provider } = world([{ calls: [{ name: "act" }] }, { text: "two" }, { text: "three" }], {
      tools: [act, pick],
      prompt: ({ turn, messages }) => `Request ${++count}, turn ${turn}, ${messages.length} messages.`,
    });
    await execute(session, "first").result();
    await execute(session, "second").result();
    expect(provider.requests.map(({ system }) => systemText(system))).toEqual([
      "Request 1, turn 1, 1 messages.",
      "Request 2, turn 2, 3 messages.",
      "Request 3, turn 1, 5 messages.",
    ]);
    expect(provider.requests[2]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool_result", "assistant", "user"]);
    for (const { tools } of provider.requests) expect(tools?.map(({ name }) => name)).toEqual(["act", "pick"]);
  });

  it("D22: is running while it runs", async () => {
    const { session } = world([{ text: "half", hang: true }]);
    const stream = execute(session, "go");
    await calm();
    expect(session.status).toBe("running");
    await stream.abort();
    expect((await stream.result()).status).toBe("aborted");
    expect(session.status).toBe("completed");
  });

  it("D49: owns up to tokens without a known price: the sum is partial, and unknown without any", async () => {
    const prices = fixedPrices({ known: { inputUsd: 1, outputUsd: 1 } });
    const usage = { input: 1_000_000, output: 0 };
    const script = [
      { text: "1", usage },
      { text: "2", usage },
      { text: "3", usage },
    ];
    const { session } = world(script, { prices });
    expect((await execute(session, "1").result()).cost).toBeUndefined();
    expect((await execute(session, "2", { model: "known" }).result()).cost).toEqual({ totalUsd: 1 });
    expect(session.totalCost).toEqual({ totalUsd: 1, partial: true });
    await execute(session, "3").result();
    expect(session.totalCost).toEqual({ totalUsd: 1, partial: true });
  });

  it("A38: does without usage, which is then unknown and not zero", async () => {
    const { session } = world([{ text: "one" }]);
    const result = await execute(session, "go").result();
    expect(result).not.toHaveProperty("usage");
    expect(session).toMatchObject({ totalUsage: undefined, totalCost: undefined, contextTokens: undefined });
  });

  it("D23, D60: is a handle at once and the same session again by its id, without a message twice", async () => {
    const { session, again } = world([{ text: "one" }, { text: "two" }]);
    await execute(session, "first").result();
    const other = again({ context: [{ role: "user", content: "seed for new sessions only" }] });
    expect(other.messages).toEqual([]);
    const result = await execute(other, "second").result();
    expect(result.messages).toHaveLength(2);
    expect(other.messages.map((message) => (message.role === "notice" ? "" : textOf(message)))).toEqual(["first", "one", "second", "two"]);
    await session.ready();
    expect((await again().ready()).messages).toEqual(other.messages);
  });

  it("D24: refuses results when nothing waits, and nonsense at any time, and stays as it was", async () => {
    const { session, types } = world([{ text: "one" }]);
    await execute(session, "go").result();
    const before = await types();
    const late = execute(session, [{ role: "tool_result", toolCallId: "c1", content: "x" }]);
    await expect(late.result()).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
    expect(() => execute(session, 7 as never)).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
    expect((await types()).filter((type) => type !== "owner.claimed")).toEqual(before.filter((type) => type !== "owner.claimed"));
    expect(session.status).toBe("completed");
  });

  it("C69, D21: runs without tools, hooks, prices, store or logger", async () => {
    const { agent } = world([{ text: "hello" }]);
    expect((await execute(createSession({ agent }), "hi").result()).text).toBe("hello");
  });
});

describe("an answer that was not completed", () => {
  it("D12, D34-D36: by the provider's fault keeps its text as an error, publishes it, and stays as valid history", async () => {
    const { session, provider, again } = world([{ thinking: "hm", text: "half an ans", error: "MODEL_BAD_REQUEST" }, { text: "better" }]);
    const events = await eventsOf(execute(session, "go"));
    const kept = { role: "assistant", stopReason: "error", errorMessage: expect.stringContaining("failed as scripted") };
    expect(ofType(events, "message_end").at(-1)?.message).toMatchObject(kept);
    expect(ofType(events, "error")).toEqual([expect.objectContaining({ reason: "error", code: "MODEL_BAD_REQUEST" })]);
    expect(events.at(-1)).toMatchObject({ type: "execute_complete", status: "error" });
    const other = await again().ready();
    expect(other.messages.at(-1)).toMatchObject({ ...kept, content: [{ type: "thinking" }, { type: "text", text: "half an ans" }] });
    expect((await execute(other, "again").result()).text).toBe("better");
    expect(provider.requests[1]?.messages.slice(1)).toMatchObject([
      { role: "assistant", content: [{ type: "text", text: "half an ans" }] },
      { role: "user", content: "again" },
    ]);
  });

  it("D12, D35: by a person is an abort, which is no error", async () => {
    const { session } = world([{ text: "half an ans", hang: true }]);
    const stream = execute(session, "go");
    await calm();
    await stream.abort("enough");
    const events = await eventsOf(stream);
    expect(ofType(events, "error")).toEqual([expect.objectContaining({ reason: "aborted", code: "RUN_ABORTED" })]);
    expect(await stream.result()).toMatchObject({ status: "aborted", finishReason: "aborted", text: "half an ans" });
  });

  it("whose attempt is made again leaves nothing of the first", async () => {
    const { session, clock } = world([{ text: "half", error: "MODEL_OVERLOADED" }, { text: "whole" }]);
    const stream = execute(session, "go");
    await calm();
    clock.advance(60_000);
    expect((await stream.result()).messages).toHaveLength(2);
    expect(session.messages.map((message) => (message.role === "notice" ? "" : textOf(message)))).toEqual(["go", "whole"]);
  });

  it("without a word of text leaves no message", async () => {
    const { session } = world([{ calls: [{ name: "act" }], error: "MODEL_BAD_REQUEST" }], { tools: [act] });
    expect((await execute(session, "go").result()).status).toBe("error");
    expect(session.messages).toHaveLength(1);
  });

  it("because it met the length limit completes with that reason", async () => {
    const { session } = world([{ text: "as far as it w", stopReason: "length" }]);
    const events = await eventsOf(execute(session, "go"));
    expect(ofType(events, "run_end")).toEqual([expect.objectContaining({ status: "completed", reason: "length" })]);
    expect(session.messages.at(-1)).toMatchObject({ stopReason: "length" });
  });
});

describe("an answer without a word after tools", () => {
  const script = [{ calls: [{ name: "act" }] }, { text: " " }, { text: "" }, { text: "never asked for" }];

  it("ends the run as it is", async () => {
    const { session, provider } = world(script, { tools: [act] });
    expect((await execute(session, "go").result()).status).toBe("completed");
    expect(provider.requests).toHaveLength(2);
  });

  it("may be asked for once more by a hook, and then ends the run", async () => {
    const once: Hooks = {
      name: "decide",
      decide({ message, messages }) {
        const isEmpty = message.content.every((part) => part.type === "text" && part.text.trim() === "");
        const wasAsked = messages.some(({ role }) => role === "notice");
        return isEmpty && !wasAsked ? { action: "nudge", notice: "Answer in words." } : undefined;
      },
    };
    const { session, provider } = world(script, { tools: [act], hooks: [once] });
    expect((await execute(session, "go").result()).status).toBe("completed");
    expect(provider.requests).toHaveLength(3);
    expect(provider.requests[2]?.messages.at(-1)).toEqual({ role: "notice", text: "Answer in words." });
  });
});
