import { describe, expect, it } from "vitest";
import { agentTool, createAgent, createSession, defineTool, execute, type Fact } from "../src/index.ts";
import { memoryStore, scripted } from "../src/memory/index.ts";
import type { ModelProvider, PriceTable, SessionStore } from "../src/ports/index.ts";

/** What the vendor has charged for: a dollar for a million tokens read, ten for a million written. */
interface Book {
  input: number;
  output: number;
  calls: number;
}
const usd = ({ input, output }: Pick<Book, "input" | "output">): number => (input + 10 * output) / 1e6;
const prices: PriceTable = {
  costOf: ({ usage }: { readonly usage: Pick<Book, "input" | "output"> }) => ({ totalUsd: usd(usage) }),
} as never;

/** A vendor that counts twenty characters of a history as a token, which is less than the runtime expects, writes as much as it may, up to 200 tokens, and refuses every seventh call. */
function vendor(book: Book): ModelProvider {
  let asked = 0;
  const provider = scripted(({ messages, tools = [], maxTokens = 200 }) => {
    asked++;
    if (asked % 7 === 0) return { error: "MODEL_OVERLOADED" };
    const usage = { input: Math.ceil(JSON.stringify(messages).length / 20), output: Math.min(maxTokens, 200) };
    book.calls++;
    book.input += usage.input;
    book.output += usage.output;
    const [first] = tools;
    if (first?.name === "worker" && messages.at(-1)?.role === "user")
      return { calls: Array.from({ length: 20 }, (_, at) => ({ name: "worker", args: { task: `Part ${at}.` } })), usage };
    return first?.name === "look" ? { calls: [{ name: "look" }], usage } : { text: "That is what I have.", usage };
  });
  return provider;
}

async function spentIn(store: SessionStore): Promise<{ readonly tokens: number; readonly costUsd: number; readonly children: number }> {
  const children = await store.index.list("local", { parent: "root" });
  const logs = await Promise.all(["root", ...children.map(({ id }) => id)].map((session) => store.log.read({ scope: "local", session })));
  const closed = logs
    .flat()
    .filter((fact): fact is Extract<Fact, { type: "model.finished" | "model.failed" }> => /^model\.f/.test(fact.type));
  const sum = (of: (fact: (typeof closed)[number]) => number): number => closed.reduce((total, fact) => total + of(fact), 0);
  return {
    tokens: sum(({ usage }) => (usage?.input ?? 0) + (usage?.output ?? 0)),
    costUsd: sum(({ cost }) => cost?.totalUsd ?? 0),
    children: children.length,
  };
}

async function twenty(limits: object, maxTokens = 200) {
  const book: Book = { input: 0, output: 0, calls: 0 };
  const provider = vendor(book);
  const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "a page ".repeat(20) });
  const shared = { provider, prices, maxTokens };
  const worker = createAgent({ ...shared, name: "worker", tools: [look], limits: { turnsMax: 40 } });
  const root = createAgent({
    ...shared,
    name: "root",
    tools: [agentTool({ agent: worker })],
    limits: { parallelMax: 20, toolCallsMax: 0, ...limits },
  });
  const store = memoryStore();
  const session = createSession({ agent: root, id: "root", store });
  const result = await execute(session, "Do it all.").result();
  return { book, result, spent: await spentIn(store), total: session.totalUsage, cost: session.totalCost, store };
}

describe("B45: twenty children under one small budget", () => {
  it("B45: spend no more tokens than the budget and one call, and the sums of the tree are those of the vendor", async () => {
    const tokensMax = 40_000;
    const { book, result, spent, total, store } = await twenty({ tokensMax });
    expect(spent.children).toBe(20);
    expect(result.status).toBe("completed");
    expect((total?.input ?? 0) + (total?.output ?? 0)).toBe(book.input + book.output);
    expect(spent.tokens).toBe(book.input + book.output);
    // What is left cannot be had for free: the work has used most of it.
    expect(book.input + book.output).toBeGreaterThan(tokensMax / 2);
    const last = (await store.log.read({ scope: "local", session: "root" })).findLast(({ type }) => type === "model.finished");
    const lastCall = last?.type === "model.finished" ? (last.usage?.input ?? 0) + (last.usage?.output ?? 0) : 0;
    expect(book.input + book.output).toBeLessThanOrEqual(tokensMax + lastCall);
  });

  it("B45: spend no more money than the budget and one call", async () => {
    const costUsdMax = 0.06;
    const { book, spent, total, cost } = await twenty({ costUsdMax });
    expect(spent.children).toBe(20);
    expect((total?.input ?? 0) + (total?.output ?? 0)).toBe(book.input + book.output);
    expect(cost?.totalUsd).toBeCloseTo(usd(book), 9);
    expect(spent.costUsd).toBeCloseTo(usd(book), 9);
    expect(usd(book)).toBeLessThanOrEqual(costUsdMax + 0.01);
  });

  it("B45: get shares that fit together: those of open children and what is spent are never more than the limit", async () => {
    const { store } = await twenty({ tokensMax: 40_000 });
    const facts = await store.log.read({ scope: "local", session: "root" });
    const open = new Map<string, number>();
    let spent = 0;
    for (const fact of facts) {
      if (fact.type === "child.linked") open.set(fact.session, fact.budget?.tokensMax ?? Number.POSITIVE_INFINITY);
      if (fact.type === "child.finished") open.delete(fact.session);
      if ("usage" in fact) spent += (fact.usage?.input ?? 0) + (fact.usage?.output ?? 0);
      if (fact.type === "child.linked") expect(spent + [...open.values()].reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(40_000);
    }
    expect(facts.filter(({ type }) => type === "child.linked")).toHaveLength(20);
  });
});
