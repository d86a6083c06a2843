import { describe, expect, it } from "vitest";
import { type Cost, defineTool, execute, type FactBody, type Usage } from "../src/index.ts";
import { fixedPrices, type ScriptedTurn } from "../src/memory/index.ts";
import { world } from "./harness.ts";

const tool = (ran: unknown[]) =>
  defineTool({
    name: "note",
    description: "Notes.",
    parameters: { type: "object" },
    execute: (args) => {
      ran.push(args);
      return "noted";
    },
  });

async function after(turn: ScriptedTurn) {
  const ran: unknown[] = [];
  const { session, provider, facts } = world([turn, { text: "and so on" }], { tools: [tool(ran)] });
  const { status, text, error } = await execute(session, "go").result();
  return { ran, status, text, error, requests: provider.requests, facts: await facts() };
}

const whole = { name: "note", args: { a: 1 } };

describe("F7: a reason to stop that lies", () => {
  it.each(["stop", "length", "tool_calls"] as const)("is not believed: calls beside `%s` are run", async (stopReason) => {
    const { ran, text, requests } = await after({ text: "I note it.", calls: [whole], stopReason });
    expect([ran, text, requests.length]).toEqual([[{ a: 1 }], "and so on", 2]);
  });

  it("is not believed: `tool_calls` without a call ends the run with the answer", async () => {
    const { status, text, requests } = await after({ text: "Done.", stopReason: "tool_calls" });
    expect([status, text, requests.length]).toEqual(["completed", "Done.", 1]);
  });

  it("and nothing at all beside it is an empty answer, not a loop", async () => {
    const { status, text, requests } = await after({ stopReason: "tool_calls" });
    expect([status, text, requests.length]).toEqual(["completed", "", 1]);
  });

  it("is not needed: `length` in the middle of arguments is an error result, whole calls beside it are run", async () => {
    const { ran, text, requests } = await after({ calls: [whole, { name: "note", argsText: '{"a": "ha' }], stopReason: "length" });
    expect([ran, text]).toEqual([[{ a: 1 }], "and so on"]);
    expect(JSON.stringify(requests[1]?.messages)).toContain("cut off because the answer reached its length limit");
  });

  it.each([
    ["a refusal", "refusal", "I cannot help with that."],
    ["a content filter", "content_filter", "The vendor's filter stopped the answer."],
  ])("does not hide %s: its calls are not run, and the run fails with the vendor's words", async (_, raw, message) => {
    const { ran, status, error, requests, facts } = await after({
      text: "Well",
      calls: [whole],
      stopReason: "error",
      stopReasonRaw: raw,
      message,
    });
    expect([ran, status, error?.code, error?.message, requests.length]).toEqual([[], "error", "MODEL_REFUSED", message, 1]);
    expect(facts.some(({ type }) => type === "tool.started")).toBe(false);
  });
});

describe("F8: a count of tokens", () => {
  const prices = fixedPrices({ "scripted-1": { inputUsd: 3, outputUsd: 15 } });
  const spentWith = async (turn: ScriptedTurn, table = prices) => {
    const { session, facts } = world([turn, { text: "ok", usage: { input: 10, output: 5 } }], { tools: [tool([])], prices: table });
    const { usage, cost } = await execute(session, "go").result();
    return { usage, cost, log: JSON.stringify(await facts()) };
  };
  const turnOf = (usage: Usage): ScriptedTurn => ({ calls: [whole], chunks: [[{ type: "usage", usage }]] });
  const unpriced: Cost = { totalUsd: 0, partial: true };
  const okCost = (10 * 3 + 5 * 15) / 1e6;

  it.each<[string, Usage]>([
    ["is missing", {}],
    ["is negative", { input: -5, output: -1 }],
    ["is absurd", { input: 1e12, output: 1e300 }],
    ["is no number", { input: Number.NaN, output: Number.POSITIVE_INFINITY }],
    ["is a fraction", { input: 0.5, output: 1.5 }],
    ["is a text", { input: "12", output: null } as never],
  ])("that %s is estimated: tokens and cost of the run are marked, and nothing in the log is absurd", async (_, usage) => {
    const { usage: sum, cost, log } = await spentWith(turnOf(usage));
    const { input = 0, output = 0, source } = sum ?? {};
    expect([input > 10, input < 60, output >= 5, output < 20, source]).toEqual([true, true, true, true, "estimated"]);
    expect(cost).toEqual({ totalUsd: expect.closeTo((input * 3 + output * 15) / 1e6, 12), partial: true });
    expect(cost?.totalUsd).toBeGreaterThan(okCost);
    expect(log).not.toMatch(/NaN|Infinity|"totalUsd":null|-\d+,"output"/);
  });

  it("that is reported only in the first event, or only in the last, counts", async () => {
    const chunks = [
      [{ type: "usage" as const, usage: { input: 7 } }],
      [{ type: "text" as const, index: 0, delta: "x" }],
      [{ type: "usage" as const, usage: { output: 2 } }],
    ];
    const { session } = world([{ chunks }]);
    expect((await execute(session, "go").result()).usage).toEqual({ input: 7, output: 2 });
  });

  it("with one half unknown is estimated by half", async () => {
    const { usage, cost } = await spentWith(turnOf({ input: 100, output: -1 }));
    const written = (usage?.output ?? 0) - 5;
    expect(usage).toMatchObject({ input: 110, source: "estimated" });
    expect(cost).toEqual({ totalUsd: expect.closeTo(okCost + (300 + written * 15) / 1e6, 12), partial: true });
  });

  it.each<[string, Cost]>([
    ["no number", { totalUsd: Number.NaN }],
    ["endless", { totalUsd: Number.POSITIVE_INFINITY }],
    ["negative", { totalUsd: -1 }],
  ])("whose price is %s has an unknown cost", async (_, cost) => {
    const { cost: total, log } = await spentWith(turnOf({ input: 1, output: 1 }), { costOf: () => cost });
    expect(total).toBeUndefined();
    // What an attempt is expected to spend is not priced where nothing is limited, so it states that its cost is a part. Nothing else has a cost.
    const kept: readonly FactBody[] = JSON.parse(log);
    const starts = kept.filter((fact) => fact.type === "model.started");
    expect(starts.map(({ expected }) => expected?.cost)).toEqual([unpriced, unpriced]);
    const others = kept.map((fact) => (fact.type === "model.started" ? { ...fact, expected: undefined } : fact));
    expect(JSON.stringify(others)).not.toContain('"totalUsd"');
  });
});
