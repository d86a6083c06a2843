import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Agent, type AgentSettings, agentTool, createAgent, createSession, defineTool, execute, type Fact } from "../src/index.ts";
import { fixedPrices, memoryStore, type ScriptedProvider, scripted } from "../src/memory/index.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { finalText } from "./final-text.ts";

/** A model that makes these calls first, and answers with the last result it reads. */
const calling = (calls: readonly object[], usage = { input: 10, output: 1 }): ScriptedProvider =>
  scripted((({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
    messages.some(({ role }) => role === "tool_result") ? { text: finalText(messages), usage } : { calls, usage }) as never);
const answering = (text: string, usage = { input: 7, output: 3 }): ScriptedProvider => scripted((() => ({ text, usage })) as never);

const agentOf = (name: string, provider: ScriptedProvider, more: Partial<AgentSettings> = {}): Agent =>
  createAgent({ name, provider, prices: fixedPrices({ "scripted-1": { inputUsd: 1, outputUsd: 10 } }), ...more });
const add = defineTool({
  name: "add",
  description: "Adds.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});
const task = (text: string, name = "researcher"): object => ({ name, args: { task: text } });

const factsOf = (store: SessionStore, session: string): Promise<readonly Fact[]> => store.log.read({ scope: "local", session });
const run = async (agent: Agent, store = memoryStore()) => {
  const session = createSession({ agent, id: "root", store });
  const result = await execute(session, "Go.").result();
  const results = session.messages.flatMap((message) => (message.role === "tool_result" ? [message] : []));
  return { session, result, results, store };
};

/** What the application gets with the first result. */
const detailsOf = ([first]: readonly { readonly details?: unknown }[]): { readonly session: string } =>
  (first?.details ?? { session: "" }) as { readonly session: string };

describe("B44: an agent as a tool", () => {
  it("B44: gives the model the answer of the child, three levels deep, and the application its session, calls, usage and cost", async () => {
    const researcher = agentOf("researcher", calling([{ name: "add", args: { a: 2, b: 3 } }]), { tools: [add] });
    const supervisor = agentOf("supervisor", calling([task("Add.")]), { tools: [agentTool({ agent: researcher })] });
    const main = agentOf("main", calling([task("Ask.", "supervisor")]), { tools: [agentTool({ agent: supervisor })] });
    const { result, results, store } = await run(main);
    expect(result.text).toBe("5");
    expect(results).toMatchObject([{ toolName: "supervisor", outcome: "ok", content: [{ text: "5" }] }]);
    const { session: middle, ...spent } = detailsOf(results);
    expect(spent).toEqual({
      agent: "supervisor",
      toolCallCount: 2,
      usage: expect.objectContaining({ input: 40, output: 4 }),
      cost: expect.objectContaining({ totalUsd: expect.any(Number) }),
    });
    const linked = (await factsOf(store, middle)).find(({ type }) => type === "child.linked");
    expect(linked).toMatchObject({ agent: "researcher" });
  });

  it("B44: gives a typed answer as JSON, and takes arguments of its own schema", async () => {
    const atlas = createAgent({
      name: "atlas",
      provider: scripted([{ text: '{"city":"Lisbon"}' }]),
      output: z.object({ city: z.string() }),
    });
    const tool = agentTool({
      agent: atlas,
      name: "capital",
      description: "Finds a capital.",
      parameters: z.object({ country: z.string() }),
      input: ({ country }) => `The capital of ${country}?`,
    });
    const { results, store } = await run(agentOf("main", calling([{ name: "capital", args: { country: "Portugal" } }]), { tools: [tool] }));
    expect(results).toMatchObject([{ content: [{ type: "json", value: { city: "Lisbon" } }] }]);
    const { session } = detailsOf(results);
    expect((await factsOf(store, session)).find(({ type }) => type === "input.accepted")).toMatchObject({
      message: { content: "The capital of Portugal?" },
    });
  });

  it("B44: refuses arguments that do not fit before a child exists, and reports a child that failed as an error", async () => {
    const broken = agentOf("researcher", scripted([{ error: "MODEL_AUTH" }]));
    const bad = { name: "researcher", args: { work: "no task" } };
    const { results } = await run(agentOf("main", calling([bad, task("Find.")]), { tools: [agentTool({ agent: broken })] }));
    expect(results).toMatchObject([
      { outcome: "error", content: [{ text: expect.stringContaining("TOOL_ARGUMENTS") }] },
      { outcome: "error", content: [{ text: expect.stringContaining("MODEL_AUTH") }] },
    ]);
  });

  it("B44: runs the children of one turn beside one another", async () => {
    let waiting = 0;
    let release = (): void => {};
    const all = new Promise<void>((resolve) => {
      release = resolve;
    });
    const meet = defineTool({
      name: "meet",
      description: "Ends when three have come.",
      parameters: { type: "object" },
      execute() {
        if (++waiting === 3) release();
        return all;
      },
    });
    const worker = (name: string): Agent => agentOf(name, calling([{ name: "meet" }]), { tools: [meet] });
    const tools = ["a", "b", "c"].map((name) => agentTool({ agent: worker(name) }));
    const { result } = await run(agentOf("main", calling(["a", "b", "c"].map((name) => task("Meet.", name))), { tools }));
    expect([result.status, waiting]).toEqual(["completed", 3]);
  });

  it("B44: without an agent is refused", () => {
    expect(() => agentTool({} as never)).toThrow(/The tool has no agent/);
  });
});

describe("B45: what a child spends", () => {
  it("B45: is counted once in each run above it: the usage of the root is the sum of all model calls in the tree", async () => {
    const models = [calling([task("a"), task("b")]), calling([{ name: "add", args: { a: 1, b: 2 } }])];
    const [rootModel, childModel] = models as [ScriptedProvider, ScriptedProvider];
    const researcher = agentOf("researcher", childModel, { tools: [add] });
    const { session, result, store } = await run(agentOf("main", rootModel, { tools: [agentTool({ agent: researcher })] }));
    const requests = models.reduce((sum, { requests: { length } }) => sum + length, 0);
    expect(requests).toBe(6);
    expect(result.usage).toMatchObject({ input: 10 * requests, output: requests });
    expect(session.totalUsage).toMatchObject({ input: 10 * requests, output: requests });
    const ends = (await factsOf(store, "root")).filter(({ type }) => type === "child.finished");
    const sums = ends.map((fact) => (fact.type === "child.finished" ? fact.cost?.totalUsd : undefined));
    expect(session.totalCost?.totalUsd).toBeCloseTo(3 * (sums[0] ?? 0));
    expect(sums[0]).toBeGreaterThan(0);
  });

  it("B45: adds its tool calls to those of its parent, whose limit counts them", async () => {
    const researcher = agentOf("researcher", calling([1, 2, 3].map((a) => ({ name: "add", args: { a, b: 1 } }))), { tools: [add] });
    const model = scripted((({ tools = [] }: { readonly tools?: readonly object[] }) =>
      tools.length > 0 ? { calls: [task("Add.")] } : { text: "enough" }) as never);
    const { result } = await run(agentOf("main", model, { tools: [agentTool({ agent: researcher })], limits: { toolCallsMax: 4 } }));
    expect([result.text, result.limit, model.requests.length]).toEqual(["enough", { which: "toolCalls", value: 4 }, 2]);
  });

  it("B45: is bounded by its share, and by what its parent has left", async () => {
    const endless = (): ScriptedProvider =>
      scripted((({ tools = [] }: { readonly tools?: readonly object[] }) =>
        tools.length > 0
          ? { calls: [{ name: "add", args: { a: 1, b: 1 } }], usage: { input: 500, output: 0 } }
          : { text: "stopped", usage: { input: 500, output: 0 } }) as never);
    const shareOf = async (budget: object, limits: object): Promise<unknown> => {
      const researcher = agentOf("researcher", endless(), { tools: [add] });
      const made = await run(
        agentOf("main", calling([task("Add.")], { input: 1_000, output: 0 }), {
          tools: [agentTool({ agent: researcher, ...budget })],
          limits,
        }),
      );
      return (made.results[0]?.details as { readonly limit?: object } | undefined)?.limit;
    };
    expect(await shareOf({ budget: { tokensMax: 1_200 } }, {})).toEqual({ which: "tokens", value: 1_200 });
    expect(await shareOf({}, { tokensMax: 3_000 })).toEqual({ which: "tokens", value: 2_000 });
    expect(await shareOf({ budget: { tokensMax: 2_500 } }, { tokensMax: 3_000 })).toEqual({ which: "tokens", value: 2_000 });
  });

  it("B45: starts no child when nothing is left", async () => {
    const researcher = agentOf("researcher", answering("never"));
    const main = agentOf("main", calling([task("Find.")], { input: 100, output: 0 }), {
      tools: [agentTool({ agent: researcher })],
      limits: { tokensMax: 100 },
    });
    const { results } = await run(main);
    expect(results).toMatchObject([{ outcome: "error", content: [{ text: expect.stringContaining("LIMIT_REACHED") }] }]);
  });
});
