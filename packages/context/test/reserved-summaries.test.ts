import { AgentError, createAgent, createSession, defineTool, execute } from "@loopwright/core";
import { fixedPrices, memoryLedger, memoryStore, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import type { LedgerRequest, UsageLedger } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import { contextEngine } from "../src/index.ts";

const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "seen ".repeat(60) });
const prices = fixedPrices({ large: { inputUsd: 10, outputUsd: 10 }, small: { inputUsd: 1, outputUsd: 1 } });
const usage = { input: 50, output: 10 };
const summaryUsage = { input: 400, output: 30 };
const isSummary = (id: string): boolean => id.includes("/context/");

/** A session that is long enough for summaries, on a ledger that may refuse them. */
async function played(refuses: boolean) {
  const busy = (_: unknown, call: number): ScriptedTurn =>
    call % 6 === 5 ? { text: `answer ${call}`, usage } : { calls: [{ name: "look" }], usage };
  const base = scripted(busy as never, { model: "large" });
  const provider = {
    ...base,
    stream: base.stream.bind(base),
    capabilities: (model: string) => ({ ...base.capabilities(model), contextTokens: 1_000 }),
  };
  const writer = scripted(() => ({ text: "They looked.", usage: summaryUsage }), { model: "small" });
  const context = contextEngine({ compaction: { summary: { provider: writer, model: "small" } } });
  const agent = createAgent({ name: "looker", provider, tools: [look], context, prices, maxTokens: 100 });
  const books = memoryLedger({ limits: { "scope/local": {} } });
  const asked: LedgerRequest[] = [];
  const ledger: UsageLedger = {
    reserve(request) {
      asked.push(request);
      const { id } = request;
      if (refuses && isSummary(id)) return { type: "refused", account: "scope/local", which: "tokens", limit: 0, left: 0 };
      return books.reserve(request);
    },
    settle: (id, spent) => books.settle(id, spent),
    release: (id) => books.release(id),
  };
  const store = memoryStore();
  const session = createSession({ id: "s", agent, store, ledger });
  for (let input = 0; input < 4; input++) await execute(session, `question ${input}`).result();
  const { totalUsage, totalCost } = session;
  await session[Symbol.asyncDispose]();
  const compactions = (await store.log.read({ scope: "local", session: "s" })).filter(({ type }) => type === "context.compacted");
  const summaries = asked.filter(({ id }) => isSummary(id));
  return { books, base, writer, summaries, compactions, totalUsage, totalCost };
}

it("a summary is reserved before it is written, and billed to the session and its accounts", async () => {
  const { books, base, writer, summaries, compactions, totalUsage, totalCost } = await played(false);
  const count = writer.requests.length;
  expect(count).toBeGreaterThan(0);
  expect([summaries.length, compactions.length]).toEqual([count, count]);
  expect(new Set(summaries.map(({ id }) => id)).size).toBe(count);
  for (const { ask } of summaries) expect(ask.tokens).toBeGreaterThan(summaryUsage.output);
  const tokens = base.requests.length * 60 + count * 430;
  expect((totalUsage?.input ?? 0) + (totalUsage?.output ?? 0)).toBe(tokens);
  expect(totalCost?.totalUsd).toBeCloseTo((base.requests.length * 600 + count * 430) / 1e6, 12);
  expect(books.spent("scope/local").tokens).toBe(tokens);
  expect(books.spent("scope/local").costUsd).toBeCloseTo(totalCost?.totalUsd ?? 0, 9);
});

it("a summary that the ledger refuses is not written: an extract takes its place, and costs nothing", async () => {
  const { books, base, writer, summaries, compactions } = await played(true);
  expect(writer.requests).toEqual([]);
  expect(summaries.length).toBeGreaterThan(0);
  expect(compactions.length).toBeGreaterThan(0);
  expect(books.spent("scope/local").tokens).toBe(base.requests.length * 60);
});

/** A session whose first summary never comes. */
function hangingSummaries(more: object = {}) {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const state = { dies: true, isOver: false };
  const written = scripted(() => ({ text: "They looked.", usage: summaryUsage }), { model: "small" });
  const writer: typeof written = {
    ...written,
    capabilities: written.capabilities.bind(written),
    async *stream(request, io) {
      if (state.dies) {
        ask();
        await new Promise<never>((_, reject) => io.signal.addEventListener("abort", () => reject(io.signal.reason)));
      }
      yield* written.stream(request, io);
    },
  };
  const base = scripted(() => ({ text: "seen ".repeat(150), usage }), { model: "large" });
  const capabilities = (model: string) => ({ ...base.capabilities(model), contextTokens: 1_000 });
  const provider = { ...base, stream: base.stream.bind(base), capabilities };
  const context = contextEngine({ compaction: { summary: { provider: writer, model: "small" } } });
  const agent = createAgent({ name: "looker", provider, context, prices, maxTokens: 100 });
  const store = memoryStore();
  const first = createSession({ id: "s", agent, store, ...more });
  let last = execute(first, "question 0");
  const talk = (async (): Promise<void> => {
    for (let input = 1; input < 9; input++) {
      await last.result();
      if (state.isOver) return;
      last = execute(first, `question ${input}`);
    }
  })();
  talk.catch(() => {});
  const facts = async (type: string) => (await store.log.read({ scope: "local", session: "s" })).filter((fact) => fact.type === type);
  return { agent, asked, facts, first, lastRun: () => last, state, store, written };
}

const inLog = ({ totalUsage }: { readonly totalUsage?: { readonly input?: number; readonly output?: number } }): number =>
  (totalUsage?.input ?? 0) + (totalUsage?.output ?? 0);

it("B84: a summary whose process died is counted in full by the log and by the ledger, and the process after it writes another one", async () => {
  const books = memoryLedger({ limits: { "scope/local": {} } });
  const summaries: LedgerRequest[] = [];
  const ledger: UsageLedger = {
    ...books,
    reserve(request) {
      if (isSummary(request.id)) summaries.push(request);
      return books.reserve(request);
    },
  };
  const { agent, asked, facts, first, state, store, written } = hangingSummaries({ ledger });
  await asked;
  await first[Symbol.asyncDispose]();
  state.dies = false;
  const second = createSession({ id: "s", agent, store, ledger });
  await execute(second, "And now?").result();
  const { totalUsage, totalCost } = second;
  await second[Symbol.asyncDispose]();
  const count = written.requests.length;
  expect([count > 0, summaries.length, new Set(summaries.map(({ id }) => id)).size]).toEqual([true, count + 1, count + 1]);
  const lost = await facts("summary.failed");
  expect(lost).toMatchObject([{ provider: written.name, model: "small", usage: { source: "estimated" }, cost: { partial: true } }]);
  const started = await facts("summary.started");
  expect(started).toMatchObject(summaries.map(({ id }) => ({ reservation: id })));
  expect(books.spent("scope/local").tokens).toBe(inLog({ totalUsage: totalUsage ?? {} }));
  expect(books.spent("scope/local").costUsd).toBeCloseTo(totalCost?.totalUsd ?? 0, 9);
  expect((await store.index.get("local", "s"))?.usage).toEqual(totalUsage);
});

it("B84: a summary that a person stops is counted in full, with and without a ledger", async () => {
  for (const isBooked of [true, false]) {
    const books = memoryLedger({ limits: { "scope/local": {} } });
    const { asked, facts, first, lastRun, state } = hangingSummaries(isBooked ? { ledger: books } : {});
    await asked;
    state.isOver = true;
    await lastRun().abort();
    expect((await lastRun().result()).status).toBe("aborted");
    const { totalUsage } = first;
    const types = (await facts("summary.failed")).length;
    await first[Symbol.asyncDispose]();
    expect(types).toBe(1);
    if (isBooked) expect(books.spent("scope/local").tokens).toBe(inLog({ totalUsage: totalUsage ?? {} }));
    expect(totalUsage).toMatchObject({ source: "estimated" });
  }
});

it("B84: a summary that its vendor refuses at once costs nothing, one that it cuts counts in full, and an extract takes the place of both", async () => {
  for (const [text, isFree] of [
    ["", true],
    ["They loo", false],
  ] as const) {
    const base = scripted(() => ({ text: "seen ".repeat(150), usage }), { model: "large" });
    const capabilities = (model: string) => ({ ...base.capabilities(model), contextTokens: 1_000 });
    const provider = { ...base, stream: base.stream.bind(base), capabilities };
    const small = scripted([], { model: "small" });
    const writer: typeof small = {
      ...small,
      capabilities: small.capabilities.bind(small),
      async *stream() {
        if (text !== "") yield [{ type: "text", index: 0, delta: text }];
        throw new AgentError("MODEL_OVERLOADED", { message: "Too much." });
      },
    };
    const context = contextEngine({ compaction: { summary: { provider: writer, model: "small" } } });
    const agent = createAgent({ name: "looker", provider, context, prices, maxTokens: 100 });
    const books = memoryLedger({ limits: { "scope/local": {} } });
    const store = memoryStore();
    const session = createSession({ id: "s", agent, store, ledger: books });
    for (let input = 0; input < 8; input++) await execute(session, `question ${input}`).result();
    const { totalUsage } = session;
    await session[Symbol.asyncDispose]();
    const facts = await store.log.read({ scope: "local", session: "s" });
    const failed = facts.filter(({ type }) => type === "summary.failed");
    expect(failed.length).toBeGreaterThan(0);
    expect(facts.some(({ type }) => type === "context.compacted")).toBe(true);
    expect(failed.every((fact) => "usage" in fact)).toBe(!isFree);
    expect(books.spent("scope/local").tokens).toBe(inLog({ totalUsage: totalUsage ?? {} }));
  }
});
