/*
 * The table of docs/hooks.md as tests: each row of what an agent can be made to do by a hook, expressed by a real hook in a real run. The rows
 * B16 to B18 and B29 are options of the agent and of the session, expressed as such.
 */
import { describe, expect, it } from "vitest";
import { defineTool, execute, type Hooks, type JsonObject, systemText, type Tool } from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";
import { eventsOf, ofType, world } from "./harness.ts";

const object = { type: "object" } as const;
const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  parameters: { ...object, properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  execute: (args) => {
    const { a, b } = args as { readonly a: number; readonly b: number };
    return a + b;
  },
});
const rag = defineTool({ name: "rag", description: "Searches.", parameters: object, execute: () => "three passages" });
const pick = defineTool({ name: "pick", description: "Lets the user pick.", parameters: object });
const sum = { name: "add", args: { a: 1, b: 2 } };
const usage = { input: 100, output: 10 };

/** A session whose agent has these hooks. */
const hooked = (script: readonly object[], hooks: Partial<Hooks>, tools: readonly Tool[] = [add, rag]) =>
  world(script as never, { tools, hooks: [{ name: "guard", ...hooks }] });

describe("the rules of tools in the prompt", () => {
  it("B16: the prompt holds the rule of a tool as long as `prepare` shows that tool", async () => {
    const rules: { readonly [tool: string]: string } = { add: "Use add for sums.", rag: "Use rag for facts." };
    const { session, provider } = hooked([{ calls: [sum] }, { text: "3" }], {
      prepare({ turn, tools }) {
        const shown = turn === 1 ? tools : tools.filter(({ name }) => name !== "rag");
        return { tools: shown, system: shown.map(({ name }) => rules[name]).join("\n") };
      },
    });
    await execute(session, "x").result();
    expect(provider.requests.map(({ system }) => systemText(system))).toEqual([
      "Use add for sums.\nUse rag for facts.",
      "Use add for sums.",
    ]);
  });

  it("B17: what a hook keeps for one run is not seen by another one, also of the same agent", async () => {
    const seen: JsonObject[] = [];
    const { session, again } = hooked([{ text: "one" }, { text: "two" }], {
      run: { start: () => ({ state: { begun: true } }) },
      prepare({ state }) {
        seen.push(state);
        return { state: { calls: 1 } };
      },
    });
    await execute(session, "x").result();
    await execute(again({ id: "s2" }), "y").result();
    expect(seen).toEqual([{ begun: true }, { begun: true }]);
  });

  it("B18: `prepare` decides for each call whether the model may call tools in parallel", async () => {
    const { session, provider } = hooked([{ calls: [sum] }, { text: "3" }], { prepare: ({ turn }) => ({ parallelToolCalls: turn === 1 }) });
    await execute(session, "x").result();
    expect(provider.requests.map(({ parallelToolCalls }) => parallelToolCalls)).toEqual([true, false]);
  });
});

describe("before a model call", () => {
  it("B19: the state that `run.start` sets is seen by the first `prepare`, and survives a kill", async () => {
    const seen: JsonObject[] = [];
    const { session, again } = hooked(
      [{ calls: [{ name: "pick", id: "p1" }] }, { text: "ok" }],
      {
        run: { start: () => ({ state: { left: 2 } }) },
        prepare({ state }) {
          seen.push(state);
          return { state: { left: Number(state["left"]) - 1 } };
        },
      },
      [pick],
    );
    await execute(session, "x").result();
    await session[Symbol.asyncDispose]();
    const next = again();
    await execute(next, [{ role: "tool_result", toolCallId: "p1", content: "blue" }]).result();
    expect(seen).toEqual([{ left: 2 }, { left: 1 }]);
  });

  it("B20: `prepare` stops before the first model call: no request, and the run completes", async () => {
    const { session, provider, facts } = hooked([], { prepare: () => ({ stop: true, reason: "out of budget" }) });
    const events = await eventsOf(execute(session, "x"));
    expect(provider.requests).toHaveLength(0);
    expect(ofType(events, "run_end")[0]).toMatchObject({ status: "completed", reason: "out of budget" });
    expect(ofType(events, "verdict")[0]).toMatchObject({ hook: "guard", point: "prepare", action: "stop", reason: "out of budget" });
    expect((await facts()).at(-1)).toMatchObject({ type: "run.finished", verdicts: [{ hook: "guard", action: "stop" }] });
  });

  it("B21: without tools the request has neither tools nor a choice of one", async () => {
    const { session, provider } = hooked([{ text: "ok" }], {
      prepare: () => ({ tools: [], toolChoice: "required", parallelToolCalls: true }),
    });
    await execute(session, "x").result();
    expect(provider.requests[0]).not.toHaveProperty("tools");
    expect(provider.requests[0]).not.toHaveProperty("toolChoice");
    expect(provider.requests[0]).not.toHaveProperty("parallelToolCalls");
  });

  it("B22: `prepare` picks the model of each call", async () => {
    const { session, provider } = hooked([{ calls: [sum] }, { text: "3" }], { prepare: ({ turn }) => ({ model: `model-${turn}` }) });
    await execute(session, "x").result();
    expect(provider.requests.map(({ model }) => model)).toEqual(["model-1", "model-2"]);
  });
});

describe("B23: `decide` is asked for each reason, and its answer is honoured", () => {
  const reasons: string[] = [];
  const deciding = (decision: "continue" | "finish"): Hooks => ({
    name: "deciding",
    decide({ reason, turn }) {
      reasons.push(reason);
      return turn === 1 ? { action: decision } : undefined;
    },
  });

  it.each([
    { decision: "continue", requests: 2 },
    { decision: "finish", requests: 1 },
  ] as const)("no calls: $decision makes $requests requests", async ({ decision, requests }) => {
    reasons.length = 0;
    const { session, provider } = hooked([{ text: "half" }, { text: "whole" }], deciding(decision));
    expect(await execute(session, "x").result()).toMatchObject({ status: "completed" });
    expect(provider.requests).toHaveLength(requests);
    expect(reasons[0]).toBe("no_calls");
  });

  it.each([
    { decision: "continue", requests: 2 },
    { decision: "finish", requests: 1 },
  ] as const)("a limit: $decision makes $requests requests, the last without tools", async ({ decision, requests }) => {
    reasons.length = 0;
    const { session, provider } = world([{ calls: [sum] }, { text: "3" }], {
      tools: [add],
      limits: { toolCallsMax: 1, onLimit: "stop" },
      hooks: [deciding(decision)],
    });
    expect(await execute(session, "x").result()).toMatchObject({ status: "completed" });
    expect(provider.requests).toHaveLength(requests);
    expect(provider.requests[1]?.tools).toBeUndefined();
    expect(reasons[0]).toBe("limit");
  });

  it.each([
    { decision: "continue", requests: 2 },
    { decision: "finish", requests: 1 },
  ] as const)("tools that are not enabled: $decision makes $requests requests", async ({ decision, requests }) => {
    reasons.length = 0;
    const off = defineTool({ ...add, enabled: () => false });
    const { session, provider } = hooked([{ calls: [sum] }, { text: "sorry" }], deciding(decision), [off]);
    expect(await execute(session, "x").result()).toMatchObject({ status: "completed" });
    expect(provider.requests).toHaveLength(requests);
    expect(reasons[0]).toBe("tools_disabled");
  });
});

describe("after a model call", () => {
  it("B24: `decide` stops with the text kept and the calls left unrun", async () => {
    const ran: unknown[] = [];
    const spy = defineTool({ ...add, execute: (args) => ran.push(args) });
    const { session } = hooked([{ text: "I would add.", calls: [sum] }], { decide: () => ({ action: "stop" }) }, [spy]);
    const result = await execute(session, "x").result();
    expect(result).toMatchObject({ status: "completed", text: "I would add." });
    expect(result.messages.at(-1)).toMatchObject({ role: "tool_result", outcome: "denied" });
    expect(ran).toEqual([]);
  });

  it("B25: `gate` sees all calls of its turn before any of them runs, and `filter` every delta and result of a tool", async () => {
    const order: string[] = [];
    const streams = defineTool({
      name: "streams",
      description: "Streams.",
      parameters: object,
      async *execute() {
        order.push("runs");
        yield "line";
      },
    });
    const { session } = hooked(
      [{ calls: [{ name: "streams" }, { name: "streams" }] }, { text: "ok" }],
      {
        gate({ calls }) {
          order.push(`gate of ${calls.map(({ name }) => name).join(" and ")}`);
          return undefined;
        },
        filter: {
          apply(text, { kind }) {
            if (kind === "tool") order.push(`tool said ${text}`);
            return text;
          },
        },
      },
      [streams],
    );
    await execute(session, "x").result();
    expect(order.slice(0, 2)).toEqual(["gate of streams and streams", "gate of streams and streams"]);
    expect(order.filter((step) => step === "runs")).toHaveLength(2);
    // A result is made of deltas that were filtered, so each text is asked about once.
    expect(order.filter((step) => step === "tool said line")).toHaveLength(2);
  });

  it("B26: what `parse` makes of the raw argument text reaches `execute`", async () => {
    const { session, facts } = hooked([{ calls: [{ name: "add", argsText: "a=1 b=41" }] }, { text: "42" }], {
      parse({ text, call }) {
        expect(call.problem).toBe("invalid_json");
        const [, a, b] = /a=(\d+) b=(\d+)/.exec(text) ?? [];
        return { args: { a: Number(a), b: Number(b) } };
      },
    });
    const { messages } = await execute(session, "x").result();
    expect(JSON.stringify(messages.find(({ role }) => role === "tool_result"))).toContain("42");
    const finished = (await facts()).find((fact) => fact.type === "model.finished");
    expect(finished).toMatchObject({ verdicts: [{ hook: "guard", point: "parse", action: "args" }] });
  });

  it("B27: `review` forces the next tool and replaces the result, and `prepare` replaces the messages of the next request", async () => {
    const { session, provider } = hooked([{ calls: [sum] }, { calls: [{ name: "rag" }] }, { text: "ok" }], {
      review: ({ call }) => (call.name === "add" ? { output: "see the passages", force: "rag", state: { passages: "P1" } } : undefined),
      prepare({ state, messages }) {
        if (state["passages"] === undefined) return undefined;
        return {
          messages: messages.map((one) => (one.role === "user" ? { ...one, content: `${state["passages"]}\nUser Query: x` } : one)),
        };
      },
    });
    const events = await eventsOf(execute(session, "x"));
    expect(provider.requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, { tool: "rag" }, undefined]);
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("see the passages");
    expect(JSON.stringify(ofType(events, "tool_execution_end")[0])).toContain("see the passages");
    expect(provider.requests[1]?.messages[0]).toMatchObject({ role: "user", content: "P1\nUser Query: x" });
    expect(session.messages[0]).toEqual({ role: "user", content: "x" });
  });

  it("B28: `decide` and `review` replace the usage entry that is recorded", async () => {
    const costly = defineTool({
      ...add,
      execute(_, { addUsage }) {
        addUsage({ input: 7 });
        return 3;
      },
    });
    const { session } = hooked(
      [
        { calls: [sum], usage },
        { text: "3", usage },
      ],
      { decide: ({ turn }) => (turn === 1 ? { usage: { input: 1, output: 1 } } : undefined), review: () => ({ usage: { input: 2 } }) },
      [costly],
    );
    const { usage: total } = await execute(session, "x").result();
    expect(total).toMatchObject({ input: 1 + 2 + 100, output: 1 + 10 });
  });

  it("B29: a data policy drops content from what is kept by `review` and `filter`, and never from the running tool", async () => {
    const got: unknown[] = [];
    const spy = defineTool({ ...rag, execute: (args) => got.push(args) && "secret passages" });
    const { session, facts } = hooked(
      [{ calls: [{ name: "rag", args: { query: "secret" } }] }, { text: "done" }],
      { review: () => ({ output: "[not kept]" }) },
      [spy],
    );
    await execute(session, "x").result();
    expect(got).toEqual([{ query: "secret" }]);
    expect(JSON.stringify(await facts())).not.toContain("secret passages");
  });
});

describe("more rows that hooks express", () => {
  it("B40: an asynchronous `parse` repairs malformed JSON with a model of its own, whose tokens are the run's", async () => {
    const extraction = scripted([{ text: '{"a":1,"b":2}' }]);
    const { session, facts } = hooked([{ calls: [{ name: "add", argsText: '{"a":1, "b":' }] }, { text: "3" }], {
      async parse({ call, signal, addUsage }) {
        if (!call.problem) return undefined;
        let text = "";
        const request = { model: "cheap", messages: [{ role: "user", content: "Repair." }] } as const;
        for await (const chunks of extraction.stream(request, { signal, attempt: 1 }))
          for (const chunk of chunks) if (chunk.type === "text") text += chunk.delta;
        addUsage({ input: 20, output: 8, provider: "scripted", model: "cheap", cost: { totalUsd: 0.5 } });
        return { args: JSON.parse(text) as JsonObject, reason: "repaired" };
      },
    });
    const result = await execute(session, "x").result();
    expect(result.usage).toMatchObject({ input: 20, output: 8 });
    expect(result.cost).toMatchObject({ totalUsd: 0.5 });
    expect((await facts()).filter(({ type }) => type === "tool.started")).toHaveLength(1);
  });

  it("B54: a tool that is forced is forced for the next call alone, and again when that call is retried", async () => {
    const { session, provider, clock } = world(
      [{ text: "no" }, { error: "MODEL_OVERLOADED" }, { calls: [{ name: "rag" }] }, { text: "ok" }],
      {
        tools: [add, rag],
        hooks: [{ name: "forces", decide: ({ turn }) => (turn === 1 ? { action: "force", tool: "rag" } : undefined) }],
      },
    );
    const stream = execute(session, "x");
    const result = stream.result();
    for (let round = 0; round < 20; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1_000);
    }
    expect((await result).status).toBe("completed");
    expect(provider.requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, { tool: "rag" }, { tool: "rag" }, undefined]);
  });

  it("B61: the state that hooks keep is JSON in the log: another process that continues the run makes the same next request", async () => {
    const counts: Hooks = {
      name: "counts",
      prepare({ state }) {
        const calls = Number(state["calls"] ?? 0) + 1;
        return { system: `call ${calls}`, state: { calls } };
      },
    };
    const played = async (isKilled: boolean): Promise<readonly unknown[]> => {
      const { session, again, provider } = hooked([{ calls: [{ name: "pick", id: "p1" }] }, { text: "ok" }], counts, [pick]);
      await execute(session, "x").result();
      if (isKilled) await session[Symbol.asyncDispose]();
      await execute(isKilled ? again() : session, [{ role: "tool_result", toolCallId: "p1", content: "blue" }]).result();
      return provider.requests.map(({ system }) => systemText(system));
    };
    expect(await played(true)).toEqual(["call 1", "call 2"]);
    expect(await played(true)).toEqual(await played(false));
  });

  it("C61: `accept` answers a prompt that lists capabilities, whatever its case, without a model call", async () => {
    const { session, provider } = hooked([{ text: "from the model" }], {
      accept: ({ message }) =>
        /which binaries can you run/i.test(String(message.content)) ? { action: "answer", text: "I cannot say." } : undefined,
    });
    const canned = await execute(session, "WHICH binaries can you run?").result();
    expect(canned).toMatchObject({ status: "completed", text: "I cannot say.", finishReason: "stop" });
    expect(provider.requests).toHaveLength(0);
    expect((await execute(session, "Hello").result()).text).toBe("from the model");
    expect(provider.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });
});
