import { assertEventStream } from "@loopwright/testing";
import { beforeAll, describe, expect, it } from "vitest";
import {
  AgentError,
  createAgent,
  createSession,
  defineTool,
  type ExecuteResult,
  execute,
  type Fact,
  type ModelChunk,
  type RunLimits,
} from "../src/index.ts";
import { fixedPrices, memoryLedger, memoryStore, type ScriptedTurn } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import { seededIds } from "../src/memory/seeded-ids.ts";
import { seededRandom } from "../src/memory/seeded-random.ts";
import type { Usage } from "../src/message/usage.ts";
import type { ModelProvider, ModelRequest, PriceTable, UsageLedger } from "../src/ports/index.ts";
import { estimatedSizes } from "../src/prompt/message-length.ts";
import { processes } from "./dying-processes.ts";
import { calm, deferred, eventsOf, world } from "./harness.ts";

const object = { type: "object" } as const;
const look = defineTool({ name: "look", description: "Looks.", parameters: object, execute: () => "seen" });
const always: ScriptedTurn = { calls: [{ name: "look" }], usage: { input: 60, output: 40 } };
const maxTokens = 100;
const noticesOf = ({ messages }: ModelRequest) => messages.flatMap((one) => (one.role === "notice" ? [one.text] : []));

describe("B31, B32, B88: a model that always calls, under a limit", () => {
  const table: readonly (readonly [keyof RunLimits, number, string, number])[] = [
    ["turnsMax", 1, "1 turns", 1],
    ["turnsMax", 5, "5 turns", 5],
    ["toolCallsMax", 1, "1 tool calls", 2],
    ["toolCallsMax", 4, "4 tool calls", 5],
    ["tokensMax", 400, "400 tokens", 4],
    ["tokensMax", 100, "100 tokens", 2],
    ["costUsdMax", 0.04, "0.04 US dollars", 4],
  ];

  it.each(table)(
    "%s of %d has one last call without tools, one notice that names it, and a typed end",
    async (which, value, named, calls) => {
      const prices = fixedPrices({ "scripted-1": { inputUsd: 100, outputUsd: 100 } });
      const script = ({ tools }: ModelRequest): ScriptedTurn =>
        tools ? always : { text: "What I have.", usage: { input: 60, output: 20 } };
      const limits = { turnsMax: 50, [which]: value };
      const { session, provider } = world(script as never, { tools: [look], maxTokens, prices, limits });
      const stream = execute(session, "go");
      const events = eventsOf(stream);
      const result = await stream.result();
      expect(result).toMatchObject({ status: "completed", text: "What I have.", limit: { value } });
      expect(provider.requests.map(({ tools = [] }) => tools.length)).toEqual([...Array(calls - 1).fill(1), 0]);
      const notices = noticesOf(provider.requests.at(-1) as ModelRequest);
      expect(notices).toEqual([expect.stringContaining(`limit of ${named}`)]);
      assertEventStream(await events);
    },
  );

  it("runs the calls of a parallel batch up to the limit, and answers the rest without running them", async () => {
    let ran = 0;
    const counted = defineTool({ ...look, execute: () => String(++ran) });
    const calls = Array.from({ length: 5 }, () => ({ name: "look" }));
    const { session, provider } = world([{ calls }, { text: "ok" }], { tools: [counted], limits: { toolCallsMax: 3 } });
    expect(await execute(session, "go").result()).toMatchObject({ status: "completed", limit: { which: "toolCalls", value: 3 } });
    expect(ran).toBe(3);
    const results = provider.requests[1]?.messages.filter(({ role }) => role === "tool_result") ?? [];
    expect(results.map((one) => one.role === "tool_result" && one.outcome === "ok")).toEqual([true, true, true, false, false]);
  });
});

describe("the limit of a run, before a call", () => {
  it("makes the next attempt the last one where the call no longer fits, and the run ends with its answer", async () => {
    const script = [
      { text: "x".repeat(320), error: "MODEL_OVERLOADED" },
      { text: "What I have.", usage: { input: 20, output: 3 } },
    ] as const;
    const { session, provider, clock, types } = world(script, { tools: [look], maxTokens, limits: { tokensMax: 120 } });
    const result = execute(session, "go").result();
    await calm();
    clock.advance(30_000);
    expect(await result).toMatchObject({ status: "completed", text: "What I have.", limit: { which: "tokens", value: 120 } });
    expect(provider.requests.map(({ tools = [] }) => tools.length)).toEqual([1, 0]);
    expect(noticesOf(provider.requests[1] as ModelRequest)).toHaveLength(1);
    expect((await types()).filter((type) => type === "limit.reached")).toHaveLength(1);
  });

  it("counts the time of attempts that failed", async () => {
    const script = [{ error: "MODEL_OVERLOADED" }, { text: "What I have." }] as const;
    const { session, provider, clock } = world(script, { tools: [look], limits: { durationMs: 100 } });
    const result = execute(session, "go").result();
    await calm();
    clock.advance(30_000);
    expect(await result).toMatchObject({ status: "completed", text: "What I have.", limit: { which: "durationMs", value: 100 } });
    expect(provider.requests[1]?.tools).toBeUndefined();
  });

  it("leaves an answer no more room than the run has left", async () => {
    const script = [{ ...always, usage: { input: 2_000, output: 1_000 } }, { text: "ok" }];
    const { session, provider } = world(script, { tools: [look], limits: { tokensMax: 6_000 } });
    await execute(session, "go").result();
    expect(provider.requests[0]?.maxTokens).toBe(4_096);
    expect(provider.requests[1]?.maxTokens).toBeGreaterThan(2_900);
    expect(provider.requests[1]?.maxTokens).toBeLessThan(3_000);
  });

  it("keeps what a `prepare` hook has spent for a call that became the last one", async () => {
    const hooks = [{ name: "meter", prepare: ({ addUsage }: { addUsage: (usage: object) => void }) => addUsage({ input: 7, output: 0 }) }];
    const { session } = world([{ text: "ok", usage: { input: 10, output: 5 } }], {
      tools: [look],
      maxTokens,
      hooks: hooks as never,
      limits: { tokensMax: 60 },
    });
    expect(await execute(session, "x".repeat(400)).result()).toMatchObject({
      limit: { which: "tokens", value: 60 },
      usage: { input: 17, output: 5 },
    });
  });

  it("counts an attempt whose process died for all that it may have spent", async () => {
    const machine = processes(
      [
        { text: "half", hang: true },
        { text: "What I have.", usage: { input: 20, output: 5 } },
      ],
      {
        tools: [look],
        maxTokens,
        limits: { tokensMax: 140 },
      },
    );
    const first = machine.boot();
    void execute(first.session, "go")
      .result()
      .catch(() => {});
    await calm();
    first.store.kill();
    machine.outlive();
    const second = machine.boot();
    expect((await machine.finish(second.session)).text).toBe("What I have.");
    const [started] = await machine.factsOf("model.started");
    const [crashed] = await machine.factsOf("model.failed");
    expect(crashed).toMatchObject({ failure: { code: "CRASHED" }, usage: started?.expected?.usage });
    expect(crashed?.usage).toMatchObject({ output: maxTokens, source: "estimated" });
    expect(machine.provider.requests[1]?.tools).toBeUndefined();
  });

  const lost = async (prices: PriceTable) => {
    const script = [
      { text: "half", hang: true },
      { text: "What I have.", usage: { input: 20, output: 5 } },
    ];
    const machine = processes(script, { tools: [look], maxTokens, prices });
    const first = machine.boot();
    void execute(first.session, "go")
      .result()
      .catch(() => {});
    await calm();
    return { machine, first };
  };
  const died = async ({ machine, first }: Awaited<ReturnType<typeof lost>>) => {
    first.store.kill();
    machine.outlive();
    const { text, cost, usage } = await machine.finish(machine.boot().session);
    const [started] = await machine.factsOf("model.started");
    const [crashed] = await machine.factsOf("model.failed");
    expect(crashed).toMatchObject({ failure: { code: "CRASHED" }, ...started?.expected });
    expect({ text, usage }).toMatchObject({ text: "What I have.", usage: { output: maxTokens + 5, source: "estimated" } });
    return { cost, expected: started?.expected };
  };
  const table = fixedPrices({ "scripted-1": { inputUsd: 2, outputUsd: 3 } });
  const second = (20 * 2 + 5 * 3) / 1e6;

  it.each<[string, PriceTable]>([
    ["at once", table],
    ["soon", { costOf: async (call) => table.costOf(call) }],
  ])(
    "counts such an attempt and its price, marked as an estimate, where nothing is limited and the price table answers %s",
    async (_, prices) => {
      const { cost, expected } = await died(await lost(prices));
      const { input = 0, output = 0 } = expected?.usage ?? {};
      expect([input > 0, output]).toEqual([true, maxTokens]);
      expect(cost).toEqual({ totalUsd: expect.closeTo(second + (input * 2 + output * 3) / 1e6, 12), partial: true });
    },
  );

  it.each<[string, PriceTable["costOf"]]>([
    ["does not answer within a second", () => new Promise(() => {})],
    ["throws", () => Promise.reject(new Error("no prices"))],
    ["knows no price", () => undefined],
  ])("does not hold a call back for a price table that %s: the lost attempt costs 0, and the sum is a part", async (_, first) => {
    let asked = 0;
    const prices: PriceTable = { costOf: (call) => (asked++ === 0 ? first(call) : table.costOf(call)) };
    const made = await lost(prices);
    made.machine.clock.advance(1_000);
    await calm();
    expect(made.machine.provider.requests).toHaveLength(1);
    const { cost, expected } = await died(made);
    expect(expected?.cost).toEqual({ totalUsd: 0, partial: true });
    expect(cost).toEqual({ totalUsd: second, partial: true });
  });
});

/** A vendor whose books are right: it charges what it has read and written, also for answers that are cut and for calls whose usage it does not report. */
function vendor(random: () => number, gates: (() => void)[]) {
  const books = { tokens: 0, calls: 0, uncounted: 0 };
  const read = (request: ModelRequest): number =>
    Math.ceil((request.messages.reduce((sum, one) => sum + estimatedSizes.sizeOf(one), 0) + estimatedSizes.sizeBeside(request)) / 4);
  const provider: ModelProvider = {
    name: "vendor",
    defaultModel: "vendor-1",
    capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
    async *stream(request, { signal }): AsyncGenerator<readonly ModelChunk[]> {
      const gate = deferred();
      gates.push(gate.resolve);
      await gate.promise;
      signal.throwIfAborted();
      const chance = random();
      books.calls++;
      if (chance < 0.1) throw new AgentError("MODEL_OVERLOADED", { message: "Too much.", retryable: true });
      const input = read(request);
      const output = 1 + Math.floor(random() * (request.maxTokens ?? 0));
      books.tokens += input;
      const text: ModelChunk = { type: "text", index: 0, delta: "x".repeat(4 * output) };
      if (chance < 0.5 && request.tools) {
        books.tokens += output;
        yield [
          { type: "call-start", index: 0, id: `c${books.calls}`, name: "look" },
          { type: "call-end", index: 0 },
        ];
        yield [
          { type: "usage", usage: { input, output } },
          { type: "end", stopReason: "tool_calls" },
        ];
        return;
      }
      books.tokens += output;
      yield [text];
      if (chance < 0.65 || (chance < 0.75 && !request.tools)) {
        books.uncounted++;
        if (chance < 0.6) throw new AgentError("MODEL_OVERLOADED", { message: "Cut.", retryable: true });
        yield [{ type: "end", stopReason: "stop" }];
        return;
      }
      yield [
        { type: "usage", usage: { input, output } },
        { type: "end", stopReason: "stop" },
      ];
    },
  };
  return { provider, books };
}

interface Attempt {
  /** Nothing where the vendor refused it. */
  readonly spent: Usage;
  /** The most that it may spend. */
  readonly most: Usage;
  /** The limit of its run was reached before it. */
  readonly isLast: boolean;
}

function attemptsOf(facts: readonly Fact[]): ReadonlyMap<string, readonly Attempt[]> {
  const attempts = new Map<string, Attempt[]>();
  const limited = new Set<string>();
  let most: Usage = {};
  for (const fact of facts) {
    if (fact.type === "limit.reached") limited.add(fact.runId);
    if (fact.type === "model.started") most = fact.expected?.usage ?? {};
    if (fact.type === "model.finished" || fact.type === "model.failed") {
      const attempt: Attempt = { spent: fact.usage ?? {}, most, isLast: limited.has(fact.runId) };
      attempts.set(fact.runId, [...(attempts.get(fact.runId) ?? []), attempt]);
    }
  }
  return attempts;
}

interface Played {
  readonly results: readonly ExecuteResult[];
  /** Of each run: its attempts, in their order. */
  readonly attempts: ReadonlyMap<string, readonly Attempt[]>;
  readonly books: { readonly tokens: number; readonly uncounted: number };
  readonly spent: number;
  readonly highest: number;
}

/** Two sessions on one ledger, whose calls end in an order that the seed chooses. */
async function played(seed: number, limit: number, limits: Partial<RunLimits>): Promise<Played> {
  const random = seededRandom(seed);
  const gates: (() => void)[] = [];
  const clock = manualClock();
  const { provider, books } = vendor(random, gates);
  const account = "scope/local";
  const sums = memoryLedger({ limits: { [account]: { tokens: limit } }, clock });
  let highest = 0;
  const noted = <T>(value: T): T => {
    highest = Math.max(highest, sums.spent(account).tokens);
    return value;
  };
  const ledger: UsageLedger = {
    reserve: (request) => noted(sums.reserve(request)),
    settle: (id, spent) => noted(sums.settle(id, spent)),
    release: (id) => noted(sums.release(id)),
  };
  const prices = fixedPrices({ "vendor-1": { inputUsd: 2, outputUsd: 3 } });
  const agent = createAgent({ name: "tester", provider, prices, tools: [look], maxTokens, limits: { turnsMax: 30, ...limits } });
  const store = memoryStore({ clock });
  const runs = [0, 1].map(async (at) => {
    const session = createSession({ agent, id: `s${at}`, store, clock, ledger, ids: seededIds(seed * 2 + at) });
    const results: ExecuteResult[] = [];
    for (let input = 0; input < 3; input++) results.push(await execute(session, "go ".repeat(1 + Math.floor(random() * 20))).result());
    await session[Symbol.asyncDispose]();
    return results;
  });
  let isOver = false;
  const all = Promise.all(runs).finally(() => {
    isOver = true;
  });
  for (let step = 0; !isOver; step++) {
    await calm();
    const next = gates.splice(Math.floor(random() * gates.length), 1)[0];
    if (next) next();
    else clock.advance(5_000);
    if (step > 2_000) throw new Error(`Seed ${seed} does not end.`);
  }
  await calm();
  const facts = await Promise.all([0, 1].map((at) => store.log.read({ scope: "local", session: `s${at}` })));
  const attempts = new Map(facts.flatMap((log) => [...attemptsOf(log)]));
  return { results: (await all).flat(), attempts, books, spent: sums.spent(account).tokens, highest };
}

// Loaded before the clock of a test advances: a module that is still being loaded would look like a hook that hangs.
beforeAll(async () => {
  await Promise.all([import("../src/driver/model/check-run-budget.ts"), import("../src/driver/model/ledger-reservations.ts")]);
});

const seeds = Array.from({ length: Number(process.env["LOOPWRIGHT_BUDGET_SEEDS"] ?? 12) }, (_, at) => at + 1);

describe("two sessions on one ledger, in a random order", () => {
  it.each(seeds)("never spend more than the account has, and the sum is what the vendor's books show (seed %d)", async (seed) => {
    const limit = 400 + (seed % 7) * 500;
    const { results, books, spent, highest } = await played(seed, limit, {});
    expect(highest).toBeLessThanOrEqual(limit);
    // What the vendor does not count is estimated by the same rule, rounded up for each call.
    expect(Math.abs(spent - books.tokens)).toBeLessThanOrEqual(2 * books.uncounted);
    for (const { status, error, limit: reached } of results) {
      if (error?.code === "LIMIT_REACHED") expect(reached?.which).toBe("tokens of scope/local");
      else expect([status, error?.code]).toEqual(error ? ["error", "MODEL_OVERLOADED"] : ["completed", undefined]);
    }
  });

  const units = [
    ["tokens", ({ input = 0, output = 0 }: Usage) => input + output, (max: number) => ({ tokensMax: max })],
    [
      "US dollars",
      ({ input = 0, output = 0 }: Usage) => (2 * input + 3 * output) / 1e6,
      (max: number) => ({ costUsdMax: (2.5 * max) / 1e6 }),
    ],
  ] as const;

  describe.each(units)("with a limit of %s", (_, of, limitsOf) => {
    it.each(seeds)("spend no more than the limit with tools, and one bounded call without tools beyond it (seed %d)", async (seed) => {
      const limits = limitsOf(150 + (seed % 5) * 100);
      const max = Object.values(limits)[0] as number;
      const { results, attempts } = await played(seed, 1e6, limits);
      for (const run of attempts.values()) {
        let used = 0;
        for (const { spent, most, isLast } of run) {
          expect(of(spent)).toBeLessThanOrEqual(of(most) + 1e-12);
          expect(most.output ?? 0).toBeLessThanOrEqual(maxTokens);
          // An attempt that its vendor cut or refused may be made again only within the limit: the one call beyond it is the last that spends.
          expect(used).toBeLessThanOrEqual(max + 1e-12);
          used += of(spent);
          if (!isLast) expect(used).toBeLessThanOrEqual(max + 1e-12);
        }
      }
      for (const { limit, error, usage } of results)
        if (of(usage ?? {}) > max || error?.code === "LIMIT_REACHED") expect(limit?.which).toBe(Object.keys(limits)[0]?.slice(0, -3));
    });
  });

  it("reach that limit", async () => {
    const { results } = await played(1, 1e6, { tokensMax: 250 });
    expect(results.some(({ limit }) => limit?.which === "tokens")).toBe(true);
  });
});

it("a refusal for a window of time has the time until it ends as the time to wait", async () => {
  const clock = manualClock(Date.parse("2026-11-23T23:00:00Z"));
  const ledger = memoryLedger({ limits: { "scope/local": { tokens: 1, per: "day" } }, clock });
  const { session } = world([{ text: "Never." }], { session: { ledger, clock } });
  const { error } = await execute(session, "Hi").result();
  expect(error).toMatchObject({ code: "LIMIT_REACHED", retryable: false, retryAfterMs: 3_600_000 });
});
