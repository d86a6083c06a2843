import type { ServerResponse } from "node:http";
import { agentTool, createAgent, createSession, defineTool, execute, type Fact } from "@loopwright/core";
import { fixedPrices, memoryLedger, memoryStore } from "@loopwright/core/memory";
import { type Asked, loopbackServer } from "@loopwright/provider-kit/testing";
import { describe, expect, it } from "vitest";
import { openai } from "../src/index.ts";

/** A step of the vendor: what it writes, what it charges for it, and how it ends. */
interface Step {
  readonly text?: string;
  readonly call?: string;
  readonly args?: object;
  readonly usage: { readonly input: number; readonly output: number };
  /** `silent`: the usage is charged and not reported. `cut`: neither is the stream complete. */
  readonly how?: "refused" | "silent" | "cut";
}

/** A vendor over the wire, with books of what it charges, by model. */
async function vendor(script: { readonly [model: string]: readonly Step[] }) {
  const books: { model: string; input: number; output: number; how: Step["how"] }[] = [];
  const left = new Map(Object.entries(script).map(([model, steps]) => [model, [...steps]]));
  const answer = (response: ServerResponse, { body }: Asked): void => {
    const model = String(body["model"]);
    const step = left.get(model)?.shift();
    if (!step) throw new Error(`The script of ${model} is over.`);
    if (step.how === "refused") {
      response.writeHead(503, { "Content-Type": "application/json" }).end('{"error":{"message":"Too much.","type":"server_error"}}');
      return;
    }
    books.push({ model, ...step.usage, how: step.how });
    const send = (choices: object[], more: object = {}): void =>
      void response.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model, choices, ...more })}\n\n`);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const call = {
      index: 0,
      id: `call${books.length}`,
      type: "function",
      function: { name: step.call, arguments: JSON.stringify(step.args ?? {}) },
    };
    const delta = step.call === undefined ? { role: "assistant", content: step.text ?? "" } : { role: "assistant", tool_calls: [call] };
    send([{ index: 0, delta, finish_reason: null }]);
    if (step.how === "cut") return void setImmediate(() => response.destroy());
    send([{ index: 0, delta: {}, finish_reason: step.call === undefined ? "stop" : "tool_calls" }]);
    const { input, output } = step.usage;
    if (step.how !== "silent") send([], { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } });
    response.end("data: [DONE]\n\n");
  };
  return { books, server: await loopbackServer(answer) };
}

const object = { type: "object" } as const;
const spender = (name: string, fails: boolean) =>
  defineTool({
    name,
    description: "Spends tokens of its own.",
    parameters: object,
    execute(_, { addUsage }) {
      addUsage({ input: 7, output: 3 });
      if (fails) throw new Error("No.");
      return "done";
    },
  });
const prices = fixedPrices({ large: { inputUsd: 10, outputUsd: 30 }, small: { inputUsd: 1, outputUsd: 3 } });

async function played(script: { readonly [model: string]: readonly Step[] }) {
  const { books, server } = await vendor(script);
  const provider = openai({ apiKey: "k", baseURL: `${server.origin}/v1`, api: "chat" });
  const researcher = createAgent({ name: "researcher", provider, model: "small", prices, maxTokens: 100 });
  const agent = createAgent({
    name: "lead",
    provider,
    model: "large",
    prices,
    maxTokens: 100,
    tools: [agentTool({ agent: researcher }), spender("good", false), spender("bad", true)],
  });
  const store = memoryStore();
  const ledger = memoryLedger({ limits: { "scope/local": { tokens: 1e6 } } });
  const session = createSession({ id: "root", agent, store, ledger });
  const result = await execute(session, "Go.").result();
  await session[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  const facts: readonly Fact[] = await store.log.read({ scope: "local", session: "root" });
  const sum = (of: "input" | "output", model?: string): number =>
    books.filter((one) => model === undefined || one.model === model).reduce((all, one) => all + one[of], 0);
  return { books, result, facts, sum, ledger };
}

const task = { task: "Find it." };
const ok = (text: string): Step => ({ text, usage: { input: 40, output: 11 } });

describe("B83, B84: the bill of a tree of agents, against the books of its vendor over the wire", () => {
  it("is exact over a child, refused attempts and tools with tokens of their own, and names tools that succeeded alone", async () => {
    const { books, result, facts, sum, ledger } = await played({
      large: [
        { usage: { input: 0, output: 0 }, how: "refused" },
        { call: "researcher", args: task, usage: { input: 100, output: 20 } },
        { call: "good", usage: { input: 130, output: 9 } },
        { call: "bad", usage: { input: 150, output: 8 } },
        ok("There."),
      ],
      small: [{ usage: { input: 0, output: 0 }, how: "refused" }, ok("It is Lisbon.")],
    });
    expect(result).toMatchObject({ status: "completed", text: "There." });
    expect(books).toHaveLength(5);
    expect(result.usage).toMatchObject({ input: sum("input") + 14, output: sum("output") + 6 });
    expect(result.usage?.source).not.toBe("estimated");
    const usd = (sum("input", "large") * 10 + sum("output", "large") * 30 + sum("input", "small") + sum("output", "small") * 3) / 1e6;
    expect(result.cost?.totalUsd).toBeCloseTo(usd, 12);
    expect(ledger.spent("scope/local").tokens).toBe(sum("input") + sum("output"));
    const named = facts.flatMap((fact) => (fact.type === "tool.finished" && fact.usage ? [fact.usage.tools ?? []] : []));
    expect(named).toEqual([["good"], []]);
  });

  it("F8: is estimated and marked where the vendor charges what it does not report: a silent call, and a stream that is cut", async () => {
    const { result, sum } = await played({
      large: [
        { text: "x".repeat(80), usage: { input: 30, output: 20 }, how: "cut" },
        { text: "y".repeat(40), usage: { input: 30, output: 10 }, how: "silent" },
      ],
    });
    expect(result).toMatchObject({ status: "completed", usage: { source: "estimated", output: sum("output") }, cost: { partial: true } });
    expect(result.usage?.input).toBeGreaterThan(0);
    expect(result.cost?.totalUsd).toBeGreaterThan((sum("output") * 30) / 1e6);
  });
});
