import { expect, it } from "vitest";
import {
  type Agent,
  type AgentSession,
  agentTool,
  createAgent,
  createSession,
  defineTool,
  execute,
  type Fact,
  type Tool,
  textOf,
} from "../src/index.ts";
import { memoryStore, scripted } from "../src/memory/index.ts";
import type { SessionStore } from "../src/ports/index.ts";

const usage = { input: 10, output: 5 };
const ref = (session: string) => ({ scope: "local", session });

/** Turns of the event loop until it is true: many, because digests of ids are made beside it. */
async function until(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let turn = 0; turn < 100_000; turn++) {
    if (await isTrue()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`It did not come to pass that ${what}.`);
}

/** A model that holds its answer until it is released. */
function held(text = "Lisbon.") {
  const { promise, resolve } = Promise.withResolvers<void>();
  const provider = scripted(() => ({ text, usage }));
  const { stream } = provider;
  const waiting: typeof stream = async function* (request, options) {
    await promise;
    yield* stream.call(provider, request, options);
  };
  return { provider: { ...provider, stream: waiting }, release: resolve };
}

const researcherOf = (provider: Parameters<typeof createAgent>[0]["provider"], more: object = {}): Agent =>
  createAgent({ name: "researcher", provider, ...more } as never);

/** Starts a researcher for each task, once a user asks, and answers what is reported with its length. */
function leadOf(researcher: Agent, { tasks = ["The capital?"], tools = [], limits = {} }: LeadOptions = {}): Agent {
  return createAgent({
    name: "lead",
    provider: scripted(({ messages }) => {
      const last = messages.at(-1);
      const asked = last?.role === "user" ? textOf(last) : "";
      if (asked.startsWith("The agent")) return { text: `Read: ${asked.split("\n\n")[1] ?? asked}`, usage };
      if (last?.role === "user")
        return { calls: [...tasks.map((task) => ({ name: "researcher", args: { task } })), ...others(tools)], usage };
      return { text: "It is under way.", usage };
    }),
    tools: [agentTool({ agent: researcher, background: true }), ...tools],
    limits,
  });
}
interface LeadOptions {
  readonly tasks?: readonly string[];
  readonly tools?: readonly Tool[];
  readonly limits?: object;
}
const others = (tools: readonly Tool[]): readonly { readonly name: string }[] => tools.map(({ name }) => ({ name }));

const childrenOf = (store: SessionStore): Promise<readonly { readonly id: string }[]> => store.index.list("local", { parent: "root" });
const inputsIn = async (store: SessionStore): Promise<readonly Extract<Fact, { type: "input.accepted" }>[]> =>
  (await store.log.read(ref("root"))).filter((fact) => fact.type === "input.accepted");
const endOf = (session: AgentSession): string => textOf(session.messages.at(-1) ?? { role: "user", content: "" });

it("B44: a child in the background: its call and the run end at once, and its report starts a run, which counts what it spent", async () => {
  const store = memoryStore();
  const model = held();
  const session = createSession({ id: "root", agent: leadOf(researcherOf(model.provider)), store });
  const first = await execute(session, "What is the capital of Portugal?").result();
  expect([first.text, first.usage]).toMatchObject(["It is under way.", { input: 20, output: 10 }]);
  expect(session.isResting).toBe(true);
  const [child] = await childrenOf(store);
  model.release();
  await until(() => endOf(session) === "Read: Lisbon.", "the report is read");
  const [, report] = await inputsIn(store);
  expect(report).toMatchObject({ mode: "enqueue", origin: { type: "session", session: child?.id, callKey: expect.any(String) } });
  expect(session.totalUsage).toMatchObject({ input: 20 + 10 + 10, output: 10 + 5 + 5 });
  const end = (await store.log.read(ref("root"))).find((fact) => fact.type === "child.finished");
  expect(end).toMatchObject({ session: child?.id, runId: report?.runId, outcome: "ok", usage });
  expect((await store.log.read(ref("root"))).at(-1)?.type).toBe("run.finished");
});

it("B44: the report of a child joins the open run, which waits for a person meanwhile", async () => {
  const store = memoryStore();
  const model = held();
  const sign = defineTool({ name: "sign", description: "Signs.", parameters: { type: "object" }, approval: true, execute: () => "signed" });
  const session = createSession({ id: "root", agent: leadOf(researcherOf(model.provider), { tools: [sign] }), store });
  const { status } = await execute(session, "What is the capital?").result();
  expect(status).toBe("awaiting_tool_execution");
  model.release();
  await until(async () => (await inputsIn(store)).length === 2, "the report is there");
  const [asked, report] = await inputsIn(store);
  expect(report).toMatchObject({ mode: "steer", runId: asked?.runId });
  const decided = await session.decide(session.pendingApprovals[0]?.callKey ?? "", { decision: "allow" });
  const { text, usage: spent } = await decided.stream().result();
  expect(text).toBe("Read: Lisbon.");
  expect((await store.log.read(ref("root"))).filter(({ type }) => type === "run.started")).toHaveLength(1);
  // Since the decision.
  expect(spent).toMatchObject({ input: 10 });
  expect(session.totalUsage).toMatchObject({ input: 10 + 10 + 10 });
});

it("B44: a child in the background outlives an abort of its run; an abort of its own session is reported, and so is a failure", async () => {
  const store = memoryStore();
  const model = held();
  const sign = defineTool({ name: "sign", description: "Signs.", parameters: { type: "object" }, approval: true, execute: () => "signed" });
  const agent = leadOf(researcherOf(model.provider), { tools: [sign] });
  const session = createSession({ id: "root", agent, store });
  await execute(session, "What is the capital?").result();
  await session.abort();
  await until(() => session.isResting && session.runId === undefined, "the run is over");
  const [child] = await childrenOf(store);
  const own = createSession({ id: child?.id ?? "", agent: researcherOf(model.provider), store, drives: false });
  await own.ready();
  expect(own.runId).toBeDefined();
  await own.abort();
  await until(() => endOf(session).includes("was stopped"), "the stop is read");

  const failing = createSession({ id: "second", agent: leadOf(researcherOf(scripted([{ error: "MODEL_REFUSED" as never }]))), store });
  await execute(failing, "And of Spain?").result();
  await until(() => endOf(failing).includes("has failed with MODEL_REFUSED"), "the failure is read");
});

it("B44: what a child in the background may spend is kept free for it, and does not use up the budget of the run that reads its report", async () => {
  const store = memoryStore();
  const model = held();
  const agent = leadOf(researcherOf(model.provider, { maxTokens: 50 }), { limits: { tokensMax: 100_000 } });
  const session = createSession({ id: "root", agent, store });
  await execute(session, "What is the capital?").result();
  const link = (await store.log.read(ref("root"))).find((fact) => fact.type === "child.linked");
  // Half of what the run had left.
  expect(link).toMatchObject({ budget: { tokensMax: Math.floor((100_000 - 15) / 2) } });
  model.release();
  await until(() => endOf(session) === "Read: Lisbon.", "the report is read");
  const snapshot = session.snapshot();
  expect(snapshot.lastRun).toMatchObject({ status: "completed", reason: "answer" });
});

it("B44, M10: at most 32 children of a session run in the background, and reports start at most eight runs in a row", async () => {
  const store = memoryStore();
  const model = held();
  const tasks = Array.from({ length: 33 }, (_, at) => `Part ${at}.`);
  const session = createSession({ id: "root", agent: leadOf(researcherOf(model.provider), { tasks }), store });
  await execute(session, "Go.").result();
  expect((await store.log.read(ref("root"))).filter(({ type }) => type === "child.linked")).toHaveLength(32);
  const refused = session.messages.filter((message) => message.role === "tool_result" && message.isError);
  expect(refused.map((message) => textOf(message))).toEqual([expect.stringContaining("32 children of the session run in the background")]);
  model.release();
  await until(async () => (await inputsIn(store)).length === 33 && session.isResting, "all are reported");

  const answering = scripted(() => ({ text: "Done." }));
  const late: typeof answering.stream = async function* (request, options) {
    await until(() => looping.runId === undefined, "the run is over");
    yield* answering.stream(request, options);
  };
  const restless = createAgent({
    name: "restless",
    provider: scripted(({ messages }) =>
      messages.at(-1)?.role === "user" ? { calls: [{ name: "researcher", args: { task: "Again." } }] } : { text: "Later." },
    ),
    tools: [agentTool({ agent: researcherOf({ ...answering, stream: late }), background: true })],
  });
  const looping: AgentSession = createSession({ id: "loop", agent: restless, store });
  await execute(looping, "Go.").result();
  const runs = async (): Promise<number> => (await store.log.read(ref("loop"))).filter(({ type }) => type === "run.finished").length;
  await until(async () => (await runs()) === 9 && looping.isResting, "the ninth run starts none");
  expect(looping.messages.filter((message) => message.role === "tool_result").at(-1)).toMatchObject({ isError: true });
});

it("B44: a child in the background needs an agent that other processes find, a depth that is left, and a key of its own", async () => {
  const researcher = researcherOf(scripted(() => ({ text: "Done." })));
  const start = (agents: readonly Agent[], inputs: readonly string[]): Tool =>
    defineTool({
      name: "start",
      description: "Starts.",
      parameters: { type: "object" },
      agents,
      async execute(_, { spawn }) {
        const ids = [];
        for (const input of inputs) ids.push((await spawn("one", researcher, input)).session);
        return ids.join(" ");
      },
    });
  const ask = async (tool: Tool, limits = {}): Promise<string> => {
    const agent = createAgent({
      name: "lead",
      provider: scripted([{ calls: [{ name: "start" }] }, { text: "Done." }]),
      tools: [tool],
      limits,
    });
    const session = createSession({ agent });
    await execute(session, "Go.").result();
    const result = session.messages.find(({ role }) => role === "tool_result");
    return textOf(result ?? { role: "user", content: "" });
  };
  const twin = researcherOf(scripted(() => ({ text: "Other." })));
  expect(await ask(start([], ["a"]))).toMatch(/^CONFIG_INVALID: .*would not find its agent `researcher`.*Name this agent in `agents`/s);
  expect(await ask(start([twin, researcher], ["a"]))).toMatch(/^CONFIG_INVALID/);
  expect(await ask(start([researcher], ["a"]), { depthMax: 0 })).toMatch(/^LIMIT_REACHED/);
  expect(await ask(start([researcher], ["a", "b"]))).toMatch(/^KEY_REUSED/);
  const [first, second] = (await ask(start([researcher], ["a", "a"]))).split(" ");
  expect(first).toMatch(/^child-/);
  expect(second).toBe(first);
});

it("B44: a child whose agent has no prices costs what the prices of the agent above it say", async () => {
  const prices = { costOf: () => ({ totalUsd: 1 }) } as never;
  const child = researcherOf(scripted([{ text: "Lisbon.", usage }]));
  const provider = scripted([
    { calls: [{ name: "researcher", args: { task: "?" } }], usage },
    { text: "Done.", usage },
  ]);
  const session = createSession({ agent: createAgent({ name: "lead", provider, prices, tools: [agentTool({ agent: child })] }) });
  expect((await execute(session, "Go.").result()).cost).toEqual({ totalUsd: 3 });
});

it("B44: a session is kept beyond its retention while a child works in its background, and the report begins the time anew", async () => {
  const model = held();
  const session = createSession({ id: "root", agent: leadOf(researcherOf(model.provider)), store: memoryStore() });
  await session.change({ title: "Trip", retention: { keepMs: 86_400_000 } });
  expect(session.erasableAt).toEqual(expect.any(Number));
  await execute(session, "What is the capital?").result();
  expect([session.isResting, session.erasableAt]).toEqual([true, null]);
  model.release();
  await until(() => endOf(session) === "Read: Lisbon." && session.isResting, "the report is read");
  expect(session.erasableAt).toEqual(expect.any(Number));
});

it("B44: a key that started a child in the background starts no other one that its call waits for", async () => {
  const researcher = researcherOf(scripted(() => ({ text: "Lisbon." })));
  const twice = defineTool({
    name: "twice",
    description: "Starts one key both ways.",
    parameters: { type: "object" },
    agents: [researcher],
    async execute(_, context) {
      await context.spawn("a", researcher, "Go.");
      const second = await context.child("a", researcher, "Go.").catch((error: { readonly code: string }) => error.code);
      return String(second);
    },
  });
  const provider = scripted([{ calls: [{ name: "twice" }] }, { text: "Done." }, { text: "Read." }]);
  const session = createSession({ agent: createAgent({ name: "lead", provider, tools: [twice] }) });
  await execute(session, "Go.").result();
  const result = session.messages.find(({ role }) => role === "tool_result");
  expect(textOf(result ?? { role: "user", content: "" })).toBe("KEY_REUSED");
});
