import { assertEventStream } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { AgentError, createAgent, createCallGuard, createSession, defineTool, execute, type FactOf } from "../src/index.ts";
import { fixedPrices, type MemoryLedgerOptions, memoryLedger, memoryStore, type ScriptedTurn, scripted } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { LedgerCall, LedgerRequest, LedgerSpending, Logger, UsageLedger } from "../src/ports/index.ts";
import { processes } from "./dying-processes.ts";
import { type AgentParts, calm, deferred, eventsOf, type Script, world } from "./harness.ts";

const usage = { input: 30, output: 12 };
const act = defineTool({ name: "act", description: "Acts.", parameters: { type: "object" }, execute: () => "done" });
const calling: ScriptedTurn = { calls: [{ name: "act" }], usage };

/** A ledger in memory that notes what it is asked. */
function notedLedger(limits: MemoryLedgerOptions["limits"] = { "scope/local": {} }) {
  const books = memoryLedger({ limits });
  const requests: LedgerRequest[] = [];
  const settled: (LedgerSpending & { readonly id: string })[] = [];
  const released: string[] = [];
  const ledger: UsageLedger = {
    reserve(request) {
      requests.push(request);
      return books.reserve(request);
    },
    settle(id, spent) {
      settled.push({ id, ...spent });
      books.settle(id, spent);
    },
    release(id) {
      released.push(id);
      books.release(id);
    },
  };
  return { ledger, requests, settled, released, spent: () => books.spent("scope/local") };
}

const worldWith = (script: Script, ledger: UsageLedger, options: AgentParts & Parameters<typeof world>[1] = {}) =>
  world(script, { maxTokens: 1_000, ...options, session: { ...options.session, ledger } });

function listeningLogger(): { readonly logger: Logger; readonly errors: string[] } {
  const errors: string[] = [];
  return {
    errors,
    logger: { log: (level, message, fields) => void (level === "error" && errors.push(`${message} ${JSON.stringify(fields)}`)) },
  };
}

describe("a usage ledger", () => {
  it("is asked before each model call, under the id that model.started records, and settled with what the vendor reports", async () => {
    const { ledger, requests, settled, released, spent } = notedLedger();
    const { session, facts } = worldWith([calling, { text: "There.", usage }], ledger, { tools: [act], prompt: "p".repeat(396) });
    expect((await execute(session, "four").result()).text).toBe("There.");
    const started = (await facts()).filter((fact): fact is FactOf<"model.started"> => fact.type === "model.started");
    expect(started.map(({ reservation }) => reservation)).toEqual(requests.map(({ id }) => id));
    expect(requests.map(({ id }) => id)).toEqual(started.map(({ runId, turn, attempt }) => `local/s1/${runId}.${turn}#${attempt}`));
    expect(requests[0]?.accounts).toEqual(["scope/local", "user/local/local", "session/local/s1"]);
    expect(requests[0]?.ask.tokens).toBeGreaterThan(1_100);
    expect(requests[0]?.ask.tokens).toBeLessThan(1_120);
    expect(requests[1]?.ask.tokens).toBeGreaterThan(requests[0]?.ask.tokens as number);
    await calm();
    expect(settled).toEqual(requests.map(({ id }) => ({ id, tokens: 42, source: "reported" })));
    expect([released, spent().tokens]).toEqual([[], 84]);
  });

  it("is given prices, and an estimate that is marked where the vendor reports nothing", async () => {
    const { ledger, requests, settled } = notedLedger();
    const prices = fixedPrices({ "scripted-1": { inputUsd: 1_000_000, outputUsd: 2_000_000 } });
    const { session } = worldWith([{ ...calling }, { text: "x".repeat(40) }], ledger, { tools: [act], prices });
    await execute(session, "four").result();
    await calm();
    expect(requests[0]?.ask.costUsd).toBeGreaterThan(2_000);
    expect(settled[0]).toMatchObject({ tokens: 42, costUsd: 54, source: "reported" });
    const read = (requests[1]?.ask.tokens ?? 0) - 1_000;
    expect(settled[1]).toMatchObject({ tokens: read + 10, costUsd: read + 20, source: "estimated" });
  });

  it("is not asked again for what was reserved, and charges nothing for an attempt that the vendor refused at once", async () => {
    const { ledger, requests, settled, spent } = notedLedger();
    const { session, clock } = worldWith([{ error: "MODEL_OVERLOADED" }, { text: "There.", usage }], ledger);
    const result = execute(session, "go").result();
    await calm();
    clock.advance(30_000);
    expect((await result).text).toBe("There.");
    await calm();
    expect(requests.map(({ id }) => id.slice(-2))).toEqual(["#1", "#2"]);
    expect(settled.map(({ tokens, source }) => [tokens, source])).toEqual([
      [0, "estimated"],
      [42, "reported"],
    ]);
    expect(spent().tokens).toBe(42);
  });

  it("counts what was written before an abort", async () => {
    const { ledger, settled, spent } = notedLedger();
    const { session } = worldWith([{ text: "x".repeat(400), hang: true }], ledger);
    const stream = execute(session, "four");
    await calm();
    await session.abort();
    expect((await stream.result()).status).toBe("aborted");
    await calm();
    expect(settled[0]).toMatchObject({ tokens: 101, source: "estimated" });
    expect(spent().tokens).toBe(101);
  });

  it("keeps the reservation of a process that died as spent, and has another one for the next attempt", async () => {
    const { ledger, requests, settled, released, spent } = notedLedger();
    const machine = processes(
      [
        { text: "half", hang: true },
        { text: "There.", usage },
      ],
      { maxTokens: 1_000 },
    );
    let isDead = false;
    const mortal: UsageLedger = { ...ledger, settle: (id, amount) => (isDead ? undefined : ledger.settle(id, amount)) };
    const first = machine.boot(undefined, { ledger: mortal });
    void execute(first.session, "go")
      .result()
      .catch(() => {});
    await calm();
    first.store.kill();
    isDead = true;
    machine.outlive();
    const second = machine.boot(undefined, { ledger });
    expect((await machine.finish(second.session)).text).toBe("There.");
    await calm();
    expect(requests.map(({ id }) => id.slice(-2))).toEqual(["#1", "#2"]);
    expect([settled.length, released]).toEqual([1, []]);
    expect(spent().tokens).toBe((requests[0]?.ask.tokens ?? 0) + 42);
  });
});

describe("a ledger and the log", () => {
  /** A process that dies at the append that would record the end of its call, and one after it. */
  async function fenced(when: "before" | "after") {
    const { ledger, requests, settled, spent } = notedLedger();
    const machine = processes(
      [
        { text: "Almost.", usage },
        { text: "There.", usage },
      ],
      { maxTokens: 1_000 },
    );
    const probe = machine.boot(undefined, { ledger });
    const first = machine.boot({ at: 2, when }, { ledger });
    void probe.session[Symbol.asyncDispose]();
    void execute(first.session, "go")
      .result()
      .catch(() => {});
    await calm();
    const closing = first.store.batches.at(-1)?.facts.some(({ type }) => type === "model.finished");
    machine.outlive();
    const second = machine.boot(undefined, { ledger });
    await machine.finish(second.session);
    await calm();
    const { totalUsage } = second.session;
    const inLog = (totalUsage?.input ?? 0) + (totalUsage?.output ?? 0);
    return { closing, inLog, spent: spent().tokens, asked: requests.map(({ ask }) => ask.tokens), settled };
  }

  it("have the same sum where a process computed the end of a call and lost the session before it was recorded", async () => {
    const { closing, inLog, spent, asked, settled } = await fenced("before");
    expect(closing).toBe(true);
    expect(spent).toBe((asked[0] ?? 0) + 42);
    expect([inLog, settled.length]).toEqual([spent, 1]);
  });

  it("differ by what was reserved at the most where a process died between the record and the settlement", async () => {
    const { closing, inLog, spent, asked } = await fenced("after");
    expect(closing).toBe(true);
    expect([inLog, spent]).toEqual([42, asked[0]]);
  });
});

describe("a ledger over children", () => {
  it("is that of their parent: of twenty at once as many run as fit, and the sum is what the vendor reports", async () => {
    const spending = { input: 90, output: 10 };
    const ledger = memoryLedger({ limits: { "scope/local": { tokens: 1_200 } } });
    const provider = scripted(() => ({ text: "found it", usage: spending }));
    const helper = createAgent({ name: "helper", provider, maxTokens: 90 });
    const results: string[] = [];
    const delegate = defineTool({
      ...act,
      name: "delegate",
      async execute(_, { child }) {
        const all = await Promise.all(Array.from({ length: 20 }, (_, i) => child(`c${i}`, helper, "Find it.")));
        results.push(...all.map(({ status, error }) => error?.code ?? status));
        return "done";
      },
    });
    const parent = scripted([
      { calls: [{ name: "delegate" }], usage: spending },
      { text: "There.", usage: spending },
    ]);
    const agent = createAgent({ name: "parent", provider: parent, tools: [delegate], maxTokens: 90 });
    const session = createSession({ agent, store: memoryStore(), ledger });
    await execute(session, "go").result();
    const done = results.filter((result) => result === "completed").length;
    expect(results.filter((result) => result === "LIMIT_REACHED")).toHaveLength(20 - done);
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(12);
    expect(provider.requests).toHaveLength(done);
    await calm();
    expect(ledger.spent("scope/local").tokens).toBe(100 * (done + parent.requests.length));
    expect(ledger.spent("scope/local").tokens).toBeLessThanOrEqual(1_200);
  });
});

describe("a reservation that is refused", () => {
  const limits = { "user/local/local": { tokens: 2_100 } };

  it("B32: leaves what is left of the account to one last answer without tools, and the result names account and limit", async () => {
    const { ledger, requests, spent } = notedLedger({ "scope/local": { tokens: 1_500 } });
    const script = [
      { ...calling, usage: { input: 800, output: 100 } },
      { text: "What I have.", usage: { input: 60, output: 40 } },
    ];
    const { session, provider, types } = worldWith(script, ledger, { tools: [act] });
    const stream = execute(session, "go");
    const events = eventsOf(stream);
    const result = await stream.result();
    const reached = { which: "tokens of scope/local", value: 1_500 };
    expect(result).toMatchObject({ status: "completed", text: "What I have.", limit: reached });
    const [first, last] = provider.requests;
    expect([first?.tools?.length, last?.tools, last?.toolChoice]).toEqual([1, undefined, undefined]);
    expect(last?.maxTokens).toBeLessThan(600);
    expect(last?.messages.filter(({ role }) => role === "notice")).toMatchObject([
      { text: expect.stringContaining("1500 tokens of scope/local") },
    ]);
    expect(requests.at(-1)?.ask.tokens).toBe(600);
    expect((await types()).slice(-4)).toEqual(["limit.reached", "model.started", "model.finished", "run.finished"]);
    await calm();
    expect(spent().tokens).toBe(1_000);
    assertEventStream(await events);
  });

  it("ends the run before the call where too little is left for an answer, with an error that names account and limit", async () => {
    const { ledger } = notedLedger({ "scope/local": { tokens: 250 } });
    const { session, provider, types } = worldWith([{ text: "never" }], ledger);
    const stream = execute(session, "go");
    const events = eventsOf(stream);
    const result = await stream.result();
    expect(result).toMatchObject({ status: "error", limit: { which: "tokens of scope/local", value: 250 } });
    expect(result.error).toMatchObject({
      code: "LIMIT_REACHED",
      message: "The account `scope/local` has reached its limit of 250 tokens.",
    });
    expect(provider.requests).toHaveLength(0);
    expect((await types()).slice(-3)).toEqual(["run.started", "limit.reached", "run.finished"]);
    assertEventStream(await events);
  });

  it("ends a later turn in the same way, and a run that is to stop at limits as completed", async () => {
    for (const onLimit of ["finalize", "error", "stop"] as const) {
      const { ledger, spent } = notedLedger(limits);
      const { session, facts } = worldWith([{ ...calling, usage: { input: 1_900, output: 200 } }], ledger, {
        tools: [act],
        limits: { onLimit },
      });
      const stream = execute(session, "go");
      const events = eventsOf(stream);
      const result = await stream.result();
      expect([result.status, result.limit?.which]).toEqual([onLimit === "stop" ? "completed" : "error", "tokens of user/local/local"]);
      expect((await facts()).at(-1)).toMatchObject({ type: "run.finished", reason: onLimit === "stop" ? "limit" : "LIMIT_REACHED" });
      assertEventStream(await events);
      expect(spent().tokens).toBe(0);
    }
  });
});

describe("what was reserved is released", () => {
  it("where the history does not fit, and where a circuit is open", async () => {
    const { ledger, requests, released, settled } = notedLedger();
    const small = { contextTokens: 10 };
    const overflow = worldWith([{ text: "never" }], ledger);
    const provider = { ...overflow.provider, capabilities: (model: string) => ({ ...overflow.provider.capabilities(model), ...small }) };
    const { session } = worldWith([], ledger, { provider });
    expect((await execute(session, "x".repeat(400)).result()).error?.code).toBe("CONTEXT_OVERFLOW");
    await calm();
    expect(released).toEqual(requests.map(({ id }) => id));

    const callGuard = createCallGuard({ clock: manualClock(), failuresMax: 1, retriesSpare: 0 });
    const broken = worldWith(() => ({ error: "MODEL_OVERLOADED" }), ledger, { limits: { attemptsMax: 1 }, session: { callGuard } });
    await execute(broken.session, "go").result();
    expect((await execute(broken.session, "again").result()).error?.code).toBe("MODEL_CIRCUIT_OPEN");
    await calm();
    expect([requests.length, released.length, settled.length]).toEqual([3, 2, 1]);
  });

  it("where the run is stopped while the ledger thinks", async () => {
    const { ledger, released, spent } = notedLedger();
    const thinking = deferred();
    const slow: UsageLedger = { ...ledger, reserve: (request) => thinking.promise.then(() => ledger.reserve(request)) };
    const { session, provider } = worldWith([{ text: "never" }], slow);
    const result = execute(session, "go").result();
    await calm();
    await session.abort();
    expect((await result).status).toBe("aborted");
    thinking.resolve();
    await calm();
    expect([provider.requests.length, released.length, spent().tokens]).toEqual([0, 1, 0]);
  });
});

describe("a ledger that fails", () => {
  const failing: { readonly [how: string]: UsageLedger["reserve"] } = {
    throws: () => {
      throw new TypeError("password of the books", { cause: new RangeError("the cause") });
    },
    rejects: async () => {
      throw new AgentError("MODEL_OVERLOADED", { message: "The books are closed.", cause: new RangeError("the cause") });
    },
  };

  it.each(Object.entries(failing))(
    "when it %s on a reservation: the run ends, and the operator reads it once with its cause",
    async (_, reserve) => {
      const { logger, errors } = listeningLogger();
      const ledger: UsageLedger = { ...notedLedger().ledger, reserve };
      const callGuard = createCallGuard({ clock: manualClock(), failuresMax: 1 });
      const { session, provider, types } = worldWith([{ text: "There." }], ledger, { session: { logger, callGuard } });
      const { error } = await execute(session, "go").result();
      expect(error?.code).toBe("HOOK_FAILED");
      expect(error?.message).not.toContain("password");
      expect(provider.requests).toHaveLength(0);
      expect((await types()).slice(-2)).toEqual(["run.started", "run.finished"]);
      expect(errors).toHaveLength(1);
      expect(errors[0]).toContain("The usage ledger threw an error.");
      expect(errors[0]).toContain("the cause");
      const healthy = worldWith([{ text: "There." }], notedLedger().ledger, { session: { callGuard } });
      expect((await execute(healthy.session, "go").result()).text).toBe("There.");
    },
  );

  it("when it throws on a settlement: the answer stands, and the reservation stays", async () => {
    const { logger, errors } = listeningLogger();
    const { ledger, requests, spent } = notedLedger();
    const broken: UsageLedger = { ...ledger, settle: failing["throws"] as never };
    const { session } = worldWith([{ text: "There.", usage }], broken, { session: { logger } });
    expect((await execute(session, "go").result()).text).toBe("There.");
    await calm();
    expect(errors).toHaveLength(1);
    expect(spent().tokens).toBe(requests[0]?.ask.tokens);
  });

  it("when it does not answer: it is given up after five seconds, and an answer that comes later is given back", async () => {
    const { logger, errors } = listeningLogger();
    const { ledger, released, spent } = notedLedger();
    const thinking = deferred();
    const slow: UsageLedger = { ...ledger, reserve: (request) => thinking.promise.then(() => ledger.reserve(request)) };
    const { session, clock } = worldWith([{ text: "never" }], slow, { session: { logger } });
    const result = execute(session, "go").result();
    await calm();
    clock.advance(5_000);
    expect((await result).error?.code).toBe("HOOK_FAILED");
    expect(errors[0]).toContain("did not answer within 5000 ms");
    thinking.resolve();
    await calm();
    expect([released.length, spent().tokens]).toEqual([1, 0]);
  });
});

it("a session without a ledger records no reservation", async () => {
  const { session, facts } = world([{ text: "There." }]);
  await execute(session, "go").result();
  expect((await facts()).some((fact) => "reservation" in fact)).toBe(false);
});

describe("the accounts of a call", () => {
  it("are chosen by the ledger from the call, and a full window is named in the error", async () => {
    const calls: LedgerCall[] = [];
    const ledger = memoryLedger({
      limits: { "model/local/scripted": { tokens: 1_050, per: "day" }, "scope/local": { tokens: 10 } },
      accounts(call) {
        calls.push(call);
        return [`model/${call.access.scope}/${call.provider}`];
      },
    });
    const { session } = worldWith([{ text: "One.", usage: { input: 60, output: 40 } }], ledger, { limits: { onLimit: "error" } });
    await execute(session, "Hi.", { labels: { surface: "page" } }).result();
    expect(calls).toMatchObject([
      {
        accounts: ["scope/local", "user/local/local", "session/local/s1"],
        ...{ session: "s1", agent: "tester", provider: "scripted", access: { user: "local" }, labels: { surface: "page" } },
      },
    ]);
    await calm();
    expect(ledger.spent("model/local/scripted", "day").tokens).toBe(100);
    const { error } = await execute(session, "And now?").result();
    expect(error?.message).toBe("The account `model/local/scripted` has reached its limit of 1050 tokens per day.");
  });

  it("end the run as an error of the ledger if choosing them throws, and unusable limits are refused at once", async () => {
    const accounts = (): never => {
      throw new Error("No plan.");
    };
    const { session, provider } = worldWith([{ text: "One." }], memoryLedger({ limits: {}, accounts }));
    expect(await execute(session, "Hi.").result()).toMatchObject({ status: "error", error: { code: "HOOK_FAILED" } });
    expect(provider.requests).toEqual([]);
    const zone = { limits: { a: { tokens: 1, per: "day", timeZone: "Mars/Olympus" } } } as const;
    expect(() => memoryLedger(zone)).toThrow(/limit of the account `a` cannot be used: its `timeZone`/);
    expect(() => memoryLedger({ limits: { a: { per: "hour" as "day" } } })).toThrow(/neither day nor month/);
  });
});
