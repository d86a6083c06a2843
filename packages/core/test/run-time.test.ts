import { assertEventStream } from "@loopwright/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { createAgent, defineTool, execute, type ModelRequest, type RunLimits, textOf } from "../src/index.ts";
import { fixedPrices, memoryLedger, type ScriptedStep, scripted } from "../src/memory/index.ts";
import { agentTool } from "../src/tools/agent-tool.ts";
import { processes } from "./dying-processes.ts";
import { calm, eventsOf, world } from "./harness.ts";

const object = { type: "object" } as const;
const look = defineTool({ name: "look", description: "Looks.", parameters: object, execute: () => "seen" });
const last: ScriptedStep = { text: "What I have.", usage: { input: 20, output: 3 } };
const reached = { which: "durationMs", value: 5_000 };

/** A run with a limit of five seconds, whose first call hangs after its text. */
function cut(
  first: ScriptedStep,
  { limits = {}, tools = [look] }: { limits?: Partial<RunLimits>; tools?: readonly never[] | [typeof look] } = {},
) {
  const made = world([first, last], { tools: tools as never, limits: { durationMs: 5_000, ...limits } });
  const stream = execute(made.session, "go");
  return { ...made, stream, events: eventsOf(stream), result: stream.result() };
}

// Loaded before the clock of a test advances: a module that is still being loaded would look like a ledger that hangs.
beforeAll(async () => {
  await Promise.all([import("../src/driver/model/check-run-budget.ts"), import("../src/driver/model/ledger-reservations.ts")]);
});

describe("the time of a run, while a model answers", () => {
  it("ends the call, withdraws its text, and leaves one call without tools", async () => {
    const { clock, provider, result, events, types } = cut({ text: "Let me see", hang: true });
    await calm();
    clock.advance(4_999);
    await calm();
    expect(provider.requests).toHaveLength(1);
    clock.advance(1);
    expect(await result).toMatchObject({ status: "completed", text: "What I have.", limit: reached });
    expect(provider.requests.map(({ tools = [] }) => tools.length)).toEqual([1, 0]);
    const notices = provider.requests[1]?.messages.flatMap((one) => (one.role === "notice" ? [one.text] : []));
    expect(notices).toEqual([expect.stringContaining("limit of 5000 milliseconds")]);
    expect((await types()).slice(-6)).toEqual([
      "model.started",
      "model.failed",
      "limit.reached",
      "model.started",
      "model.finished",
      "run.finished",
    ]);
    const seen = await events;
    expect(seen.find(({ type }) => type === "attempt_discarded")).toMatchObject({ code: "LIMIT_REACHED", willRetry: true });
    assertEventStream(seen);
  });

  it("makes no second attempt before the last one, also where one attempt is allowed and the turn is the last", async () => {
    const { clock, provider, result } = cut({ text: "Let me see", hang: true }, { limits: { attemptsMax: 1 } });
    await calm();
    clock.advance(5_000);
    expect(await result).toMatchObject({ status: "completed", text: "What I have.", limit: reached });
    expect(provider.requests).toHaveLength(2);
  });

  it("keeps what an agent without tools has written as its answer", async () => {
    const { clock, provider, result, events } = cut({ text: "It began in 1820, when", hang: true }, { tools: [] });
    await calm();
    clock.advance(5_000);
    expect(await result).toMatchObject({ status: "completed", text: "It began in 1820, when", limit: reached });
    expect(provider.requests).toHaveLength(1);
    assertEventStream(await events);
  });

  it("asks such an agent once more where it has written nothing", async () => {
    const { clock, provider, result } = cut({ hang: true }, { tools: [], limits: { turnsMax: 1 } });
    await calm();
    clock.advance(5_000);
    expect(await result).toMatchObject({ status: "completed", text: "What I have.", limit: reached });
    expect(provider.requests).toHaveLength(2);
  });

  it.each([
    ["stop", { text: "Let me see", hang: true }, { status: "completed", text: "Let me see" }],
    ["stop", { hang: true }, { status: "completed", text: "" }],
    ["error", { text: "Let me see", hang: true }, { status: "error", error: { code: "LIMIT_REACHED" } }],
    ["error", { hang: true }, { status: "error", error: { code: "LIMIT_REACHED" } }],
  ] as const)("with `onLimit: %s` and %j ends the run without another call", async (onLimit, first, end) => {
    const { clock, provider, result, events } = cut(first, { limits: { onLimit } });
    await calm();
    clock.advance(5_000);
    expect(await result).toMatchObject({ ...end, limit: reached });
    expect(provider.requests).toHaveLength(1);
    assertEventStream(await events);
  });

  it("gives a last answer as long as the limit again, and keeps what it has by then", async () => {
    const { session, provider, clock } = world([{ calls: [{ name: "look" }] }, { text: "Half an answer", hang: true }], {
      tools: [look],
      limits: { turnsMax: 2, durationMs: 5_000 },
    });
    const result = execute(session, "go").result();
    for (let seconds = 0; seconds < 30; seconds++) {
      await calm();
      expect(session.messages).toHaveLength(4);
      clock.advance(1_000);
    }
    expect(await result).toMatchObject({ status: "completed", text: "Half an answer" });
    expect(provider.requests).toHaveLength(2);
  });

  it("counts the call that was ended, by its estimate, in the run and in the ledger", async () => {
    const ledger = memoryLedger({ limits: { "scope/local": { tokens: 1e6 } } });
    const prices = fixedPrices({ "scripted-1": { inputUsd: 1, outputUsd: 1 } });
    const { session, clock } = world([{ text: "x".repeat(400), hang: true }, last], {
      tools: [look],
      prices,
      limits: { durationMs: 5_000 },
      session: { ledger },
    });
    const result = execute(session, "go").result();
    await calm();
    clock.advance(5_000);
    const { usage, cost } = await result;
    expect(usage).toMatchObject({ output: 103, source: "estimated" });
    expect(cost?.partial).toBe(true);
    await calm();
    expect(ledger.spent("scope/local").tokens).toBe((usage?.input ?? 0) + (usage?.output ?? 0));
  });

  it("is no failure of the vendor: its circuit stays closed", async () => {
    const script = (_: ModelRequest): { hang: true } => ({ hang: true });
    const { session, provider, clock } = world(script as never, { limits: { durationMs: 1_000, onLimit: "stop" } });
    for (let run = 0; run < 12; run++) {
      const result = execute(session, "go").result();
      await calm();
      clock.advance(1_000);
      expect((await result).status).toBe("completed");
    }
    expect(provider.requests).toHaveLength(12);
  });

  it("continues in the next process: a run whose time is over there has its last call alone", async () => {
    const machine = processes([{ text: "half", hang: true }, last], { tools: [look], limits: { durationMs: 5_000 } });
    const first = machine.boot();
    void execute(first.session, "go")
      .result()
      .catch(() => {});
    await calm();
    first.store.kill();
    machine.outlive();
    machine.clock.advance(5_000);
    const second = machine.boot();
    expect((await machine.finish(second.session)).text).toBe("What I have.");
    expect(machine.provider.requests.map(({ tools = [] }) => tools.length)).toEqual([1, 0]);
  });
});

describe("the time of a run, while tools run", () => {
  const waits = (signals: (AbortSignal | number | undefined)[]) =>
    defineTool({
      ...look,
      name: "wait",
      execute: (_, { signal, deadline }) => {
        signals.push(signal, deadline);
        return new Promise<string>(() => {});
      },
    });

  it("stops them, runs none that waits, and leaves one call without tools", async () => {
    const seen: (AbortSignal | number | undefined)[] = [];
    const { session, provider, clock, types } = world([{ calls: [{ name: "wait" }, { name: "look" }] }, last], {
      tools: [waits(seen), look],
      limits: { durationMs: 5_000, parallelMax: 1 },
    });
    const startedAt = clock.now();
    const stream = execute(session, "go");
    const events = eventsOf(stream);
    const result = stream.result();
    await calm();
    expect(seen[1]).toBe(startedAt + 5_000);
    clock.advance(5_000);
    expect(await result).toMatchObject({ status: "completed", text: "What I have.", limit: reached });
    expect((seen[0] as AbortSignal).aborted).toBe(true);
    const results = provider.requests[1]?.messages.flatMap((one) => (one.role === "tool_result" ? [one] : [])) ?? [];
    expect(results.map((one) => textOf(one).split(":")[0])).toEqual(["TOOL_LIMIT", "TOOL_LIMIT"]);
    expect((await types()).filter((type) => type === "tool.started")).toHaveLength(1);
    assertEventStream(await events);
  });

  it("does not count the time in which a person is asked", async () => {
    const ask = defineTool({ ...look, name: "ask", approval: true });
    const { session, clock, types } = world([{ calls: [{ name: "ask" }] }, { text: "Done." }], {
      tools: [ask],
      limits: { durationMs: 5_000 },
    });
    void execute(session, "go").result();
    while (session.pendingApprovals.length === 0) await calm();
    clock.advance(10_000);
    await session.decide(session.pendingApprovals[0]?.callKey ?? "", { decision: "allow" });
    while (session.messages.length < 4) await calm();
    expect(session.messages.at(-1)).toMatchObject({ content: [{ text: "Done." }] });
    expect(await types()).not.toContain("limit.reached");
  });

  it("stops a child with the call that waits for it", async () => {
    const child = scripted([{ text: "half", hang: true }]);
    const researcher = createAgent({ name: "researcher", provider: child });
    const { session, provider, clock, store } = world([{ calls: [{ name: "researcher", args: { task: "x" } }] }, last], {
      tools: [agentTool({ agent: researcher })],
      limits: { durationMs: 5_000 },
    });
    const result = execute(session, "go").result();
    while (child.requests.length === 0) await calm();
    clock.advance(5_000);
    expect(await result).toMatchObject({ status: "completed", text: "What I have.", limit: reached });
    await calm();
    clock.advance(5_000);
    await calm();
    const facts = await store.log.read({ scope: "local", session: "s1" });
    const linked = facts.find(({ type }) => type === "child.linked");
    const below = await store.log.read({ scope: "local", session: linked?.type === "child.linked" ? linked.session : "" });
    expect(below.at(-1)).toMatchObject({ type: "run.finished", status: "aborted" });
    expect(provider.requests).toHaveLength(2);
  });
});
