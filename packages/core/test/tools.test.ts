import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool, execute, type Tool } from "../src/index.ts";
import { calm, deferred, eventsOf, ofType, world } from "./harness.ts";

const object = { type: "object" } as const;
const textTool = (name: string, execute: Tool["execute"], more: Partial<Tool> = {}): Tool =>
  defineTool({ name, description: `Is ${name}.`, parameters: object, ...(execute ? { execute } : {}), ...more });

/** What the model received about the calls of the first turn. */
async function resultsOf(
  calls: readonly { name: string; args?: never; argsText?: string }[],
  tools: readonly Tool[],
  stopReason?: "length",
) {
  const { session, provider } = world([{ calls, ...(stopReason ? { stopReason } : {}) }, { text: "done" }], { tools });
  const result = await execute(session, "go").result();
  const published = (provider.requests[1]?.messages ?? []).filter((message) => message.role === "tool_result");
  return { result, published: published.map((message) => ({ outcome: message.outcome, text: JSON.stringify(message.content) })) };
}

describe("a tool call", () => {
  it("to an unknown tool is answered by an error that names the tools there are, and the others run", async () => {
    const { published, result } = await resultsOf([{ name: "good" }, { name: "bad" }], [textTool("good", () => "fine")]);
    expect(published[0]).toMatchObject({ outcome: "ok" });
    expect(published[1]?.outcome).toBe("error");
    expect(published[1]?.text).toContain("There is no tool `bad`. Available tools: good.");
    expect(result.text).toBe("done");
  });

  it.each([
    ['{"a": tru', "not valid JSON"],
    ["[1]", "not a JSON object"],
    ["null", "not a JSON object"],
    ['{"__proto__": {"x": 1}}', "forbidden key"],
    ["[".repeat(5) + "]".repeat(5), "not a JSON object"],
    [`{"a":${"[".repeat(100)}${"]".repeat(100)}}`, "nested too deeply"],
  ])("with the arguments %s is not run and gets the reason", async (argsText, why) => {
    let ran = 0;
    const { published } = await resultsOf([{ name: "t", argsText }], [textTool("t", () => ++ran)]);
    expect(published[0]?.text).toContain(why);
    expect(ran).toBe(0);
  });

  it("that the length limit cut off is not run, and its result names the reason", async () => {
    let ran = 0;
    const { published } = await resultsOf([{ name: "t", argsText: '{"text": "abc' }], [textTool("t", () => ++ran)], "length");
    expect(published[0]?.text).toContain("cut off because the answer reached its length limit");
    expect(ran).toBe(0);
  });

  it("with blank arguments gets an empty object, and the schema decides", async () => {
    const strict = defineTool({ name: "strict", description: "Needs a.", parameters: z.object({ a: z.number() }), execute: ({ a }) => a });
    const { published } = await resultsOf(
      [
        { name: "free", argsText: " " },
        { name: "strict", argsText: "" },
      ],
      [textTool("free", (args) => JSON.stringify(args)), strict],
    );
    expect(published[0]).toMatchObject({ outcome: "ok", text: '[{"type":"text","text":"{}"}]' });
    expect(published[1]?.text).toContain("`a`");
  });

  it("that throws is an error result for the model, and the run continues", async () => {
    const { published, result } = await resultsOf(
      [{ name: "breaks" }],
      [
        textTool("breaks", () => {
          throw new Error("disk on fire");
        }),
      ],
    );
    expect(published[0]).toMatchObject({ outcome: "error" });
    expect(published[0]?.text).toContain("TOOL_FAILED: The tool `breaks` failed.");
    expect(result.status).toBe("completed");
  });

  it("that fails after some output keeps it beside the error", async () => {
    const { published } = await resultsOf(
      [{ name: "half" }],
      [
        textTool("half", async function* () {
          yield { type: "delta", delta: "one " } as const;
          yield { type: "delta", delta: "two" } as const;
          throw new Error("gone");
        }),
      ],
    );
    expect(published[0]?.text).toContain("one two");
    expect(published[0]?.text).toContain("TOOL_FAILED: The tool `half` failed.");
    expect(published[0]?.text).not.toContain("gone");
  });

  it("that hangs is ended at its time limit, and is signalled", async () => {
    let reason: unknown;
    const hangs = textTool(
      "hangs",
      (_, { signal }) => new Promise(() => signal.addEventListener("abort", () => (reason = signal.reason))),
      { timeoutMs: 1_000 },
    );
    const { session, clock, provider } = world([{ calls: [{ name: "hangs" }] }, { text: "done" }], { tools: [hangs] });
    const running = execute(session, "go").result();
    await calm();
    clock.advance(1_001);
    expect((await running).text).toBe("done");
    expect(reason).toMatchObject({ code: "TOOL_TIMEOUT" });
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("did not end within 1000 ms");
  });

  it("that floods is cut at its output limit with a note", async () => {
    const { published } = await resultsOf([{ name: "floods" }], [textTool("floods", () => "x".repeat(5_000), { outputMax: 100 })]);
    expect(published[0]?.text).toContain("[output cut: 4900 of 5000 characters left out]");
    expect(published[0]?.text.length).toBeLessThan(400);
  });

  it("streams its deltas and its progress while it runs, and its steps stay with the result (B75)", async () => {
    const streams = textTool("streams", async function* (_, { progress }) {
      const step = progress("Reading", { icon: "BOOK" });
      yield { type: "delta", delta: "a" } as const;
      clock.advance(50);
      step.update("Reading on");
      yield { type: "delta", delta: "b" } as const;
      progress("Never ended");
      return undefined;
    });
    const { session, facts, clock } = world([{ calls: [{ name: "streams" }] }, { text: "done" }], { tools: [streams] });
    const events = await eventsOf(execute(session, "go"));
    expect(ofType(events, "tool_execution_delta").map(({ delta }) => delta)).toEqual(["a", "b"]);
    expect(ofType(events, "progress").map(({ title, state }) => `${title}: ${state}`)).toEqual([
      "Reading: open",
      "Reading on: open",
      "Never ended: open",
      "Reading on: done",
      "Never ended: done",
    ]);
    const progress = [
      { id: "1", title: "Reading on", icon: "BOOK", state: "done" },
      { id: "2", title: "Never ended", state: "done" },
    ];
    const finished = (await facts()).find((fact) => fact.type === "tool.finished");
    expect(finished).toMatchObject({ output: [{ type: "text", text: "ab" }], progress });
    expect(ofType(events, "tool_execution_end")).toMatchObject([{ progress }]);
    expect(session.messages.filter(({ role }) => role === "tool_result")).toMatchObject([{ progress }]);
  });

  it("gets the caller, the call and its arguments", async () => {
    const seen: unknown[] = [];
    const looks = textTool("looks", (_, { callId, callKey, idempotencyKey, attempt, access, resources, session }) => {
      seen.push({ callId, isKey: callKey === idempotencyKey, attempt, user: access.user, resources, messages: session.messages().length });
      return "ok";
    });
    const { session } = world([{ calls: [{ name: "looks", id: "abc" }] }, { text: "done" }], { tools: [looks], resources: { db: 1 } });
    await execute(session, "go").result();
    expect(seen).toEqual([{ callId: "abc", isKey: true, attempt: 1, user: "local", resources: { db: 1 }, messages: 2 }]);
  });

  it("waits for its turn beyond the concurrency cap", async () => {
    let atOnce = 0;
    let most = 0;
    const gates = Array.from({ length: 5 }, () => deferred());
    const counts = textTool("counts", async (args) => {
      most = Math.max(most, ++atOnce);
      await gates[(args as { n: number }).n]?.promise;
      atOnce--;
      return "ok";
    });
    const calls = gates.map((_, n) => ({ name: "counts", args: { n } as never }));
    const { session } = world([{ calls }, { text: "done" }], { tools: [counts], limits: { parallelMax: 2 } });
    const running = execute(session, "go").result();
    for (const gate of gates) {
      await calm();
      gate.resolve();
    }
    expect((await running).text).toBe("done");
    expect(most).toBe(2);
  });

  it("of a sequential tool runs alone", async () => {
    const order: string[] = [];
    const log = (name: string) => async () => {
      order.push(`${name} starts`);
      await calm();
      order.push(`${name} ends`);
      return name;
    };
    const tools = [textTool("a", log("a")), textTool("alone", log("alone"), { sequential: true }), textTool("b", log("b"))];
    const { session } = world([{ calls: [{ name: "a" }, { name: "alone" }, { name: "b" }] }, { text: "done" }], { tools });
    await execute(session, "go").result();
    expect(order).toEqual(["a starts", "a ends", "alone starts", "alone ends", "b starts", "b ends"]);
  });

  it("to a tool that is not enabled is refused without running", async () => {
    let ran = 0;
    const { published } = await resultsOf([{ name: "off" }], [textTool("off", () => ++ran, { enabled: async () => false })]);
    expect(published[0]).toMatchObject({ outcome: "denied" });
    expect(published[0]?.text).toContain("not enabled");
    expect(ran).toBe(0);
  });

  it("may come without an id or with one that repeats, and results still find their calls", async () => {
    const calls = [
      { name: "t", id: "" },
      { name: "t", id: "same" },
      { name: "t", id: "same" },
    ];
    let count = 0;
    const { session, provider } = world([{ calls }, { text: "done" }], { tools: [textTool("t", () => `r${++count}`)] });
    await execute(session, "go").result();
    const [, asked, ...results] = provider.requests[1]?.messages ?? [];
    const ids = asked?.role === "assistant" ? asked.content.flatMap((part) => (part.type === "tool_call" ? [part.id] : [])) : [];
    expect(new Set(ids).size).toBe(3);
    expect(results.map((message) => message.role === "tool_result" && message.toolCallId)).toEqual(ids);
  });

  it("attributes the tokens that a tool used", async () => {
    const thinks = textTool("thinks", (_, { addUsage }) => {
      addUsage({ input: 7 });
      addUsage({ input: 1, output: 2 });
      return "ok";
    });
    const { session } = world([{ calls: [{ name: "thinks" }], usage: { input: 10 } }, { text: "done" }], { tools: [thinks] });
    expect((await execute(session, "go").result()).usage).toEqual({ input: 18, output: 2 });
  });
});
