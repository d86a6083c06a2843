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
  type FactOf,
  resume,
  type Tool,
  textOf,
  type Usage,
} from "../src/index.ts";
import { manualClock, memoryStore, type ScriptedTurn, scripted, seededIds } from "../src/memory/index.ts";
import type { ModelProvider, SessionStore } from "../src/ports/index.ts";
import { dyingStore } from "./dying-store.ts";

/** Turns of the event loop until it is true: many, because digests of ids are made beside it. */
async function until(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let turn = 0; turn < 100_000; turn++) {
    if (await isTrue()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`It did not come to pass that ${what}.`);
}

interface Vendor {
  readonly book: { tokens: number; calls: number };
  /** Answers with the turn, and counts 10 tokens read, and those that `spends` gives as written. */
  provider(turn: (asked: string, isResult: boolean) => ScriptedTurn, spends?: (maxTokens: number) => number): ModelProvider;
}

function vendor(): Vendor {
  const book = { tokens: 0, calls: 0 };
  return {
    book,
    provider: (turn, spends = () => 5) =>
      scripted(({ messages, maxTokens = 50 }) => {
        const last = messages.findLast(({ role }) => role === "user" || role === "tool_result");
        const usage = { input: 10, output: spends(maxTokens) };
        book.tokens += usage.input + usage.output;
        book.calls++;
        return { ...turn(last ? textOf(last) : "", last?.role === "tool_result"), usage };
      }),
  };
}

/** The same provider, whose answers wait until it is released. */
function held(provider: ModelProvider) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stream: ModelProvider["stream"] = async function* (request, options) {
    await Promise.race([
      promise,
      new Promise((_, reject) => options.signal.addEventListener("abort", () => reject(options.signal.reason))),
    ]);
    yield* provider.stream(request, options);
  };
  return { provider: { ...provider, capabilities: provider.capabilities.bind(provider), stream }, release: () => resolve() };
}

interface TreeOptions {
  readonly vendor: Vendor;
  readonly researcher: ModelProvider;
  readonly limits?: object;
  readonly maxTokens?: number;
  /** The call with which the middle agent answers the report. */
  readonly onReport?: { readonly tool: Tool };
  readonly isBackground?: boolean;
}

/** An agent above one that has a third one work in its background, and answers when it has the report. */
function tree({ vendor: { provider }, researcher, limits = {}, maxTokens = 50, onReport, isBackground }: TreeOptions): Agent {
  const bottom = createAgent({ name: "researcher", provider: researcher, maxTokens });
  const middle = createAgent({
    name: "middle",
    maxTokens,
    tools: [agentTool({ agent: bottom, background: true }), ...(onReport ? [onReport.tool] : [])] as Tool[],
    provider: provider((asked, isResult) => {
      if (asked.startsWith("The agent") && onReport) return { calls: [{ name: onReport.tool.name }] };
      if (asked.startsWith("The agent")) return { text: `Read: ${asked.split("\n\n")[1] ?? asked}` };
      if (isResult) return { text: asked === "signed" ? "Signed." : "It is under way." };
      return { calls: [{ name: "researcher", args: { task: "The capital?" } }] };
    }),
  });
  return createAgent({
    name: "root",
    maxTokens,
    limits,
    tools: [agentTool({ agent: middle, ...(isBackground ? { background: true } : {}) })] as Tool[],
    provider: provider((asked, isResult) => {
      if (isResult || asked.startsWith("The agent")) return { text: `Told: ${asked}` };
      return { calls: [{ name: "middle", args: { task: "Find it." } }] };
    }),
  });
}

const tokens = (usage: Usage | undefined): number => (usage?.input ?? 0) + (usage?.output ?? 0);
const factsIn = (store: SessionStore, session: string): Promise<readonly Fact[]> => store.log.read({ scope: "local", session });
const ofType = <Type extends Fact["type"]>(facts: readonly Fact[], type: Type): readonly FactOf<Type>[] =>
  facts.filter((fact): fact is FactOf<Type> => fact.type === type);
async function childOf(store: SessionStore, session: string): Promise<string> {
  const [link] = ofType(await factsIn(store, session), "child.linked");
  return link?.session ?? "";
}
const countIn = async (store: SessionStore, session: string, type: Fact["type"]): Promise<number> =>
  (await factsIn(store, session)).filter((fact) => fact.type === type).length;
/** The middle agent has ended its first run, and nothing of what it started. */
const middleHasAnswered = async (store: SessionStore): Promise<boolean> =>
  (await countIn(store, await childOf(store, "root"), "run.finished")) === 1;

it("B45: a child ends once what it has in the background is read: its last answer and all that was spent reach the run above it", async () => {
  const store = memoryStore();
  const books = vendor();
  const { provider, release } = held(books.provider(() => ({ text: "Lisbon." })));
  const session = createSession({ id: "root", store, agent: tree({ vendor: books, researcher: provider, limits: { tokensMax: 10_000 } }) });
  const result = execute(session, "Go.").result();
  await until(() => middleHasAnswered(store), "the middle agent has answered");
  expect([session.runId === undefined, await countIn(store, "root", "child.finished")]).toEqual([false, 0]);
  release();
  const { text, usage } = await result;
  expect(text).toBe("Told: Read: Lisbon.");
  expect([tokens(usage), tokens(session.totalUsage), books.book.calls]).toEqual([books.book.tokens, books.book.tokens, 6]);
  const [end] = ofType(await factsIn(store, "root"), "child.finished");
  expect([end?.outcome, end?.toolCallCount, tokens(end?.usage)]).toEqual(["ok", 1, 15 * 4]);
  const middle = await factsIn(store, await childOf(store, "root"));
  const [first, second] = ofType(middle, "run.started").map(({ budget }) => budget?.tokensMax ?? 0);
  expect(second).toBe((first ?? 0) - 15 * 3);
});

it("B45: a share is spent once, also by runs that read the reports of children in the background", async () => {
  const store = memoryStore();
  const books = vendor();
  const greedy = (maxTokens: number): number => maxTokens;
  const limits = { tokensMax: 4_000 };
  const session = createSession({
    id: "root",
    store,
    agent: tree({
      vendor: { ...books, provider: (turn) => books.provider(turn, greedy) },
      researcher: books.provider(() => ({ text: "Lisbon." }), greedy),
      limits,
      maxTokens: 1_200,
    }),
  });
  const { usage } = await execute(session, "Go.").result();
  expect(tokens(usage)).toBe(books.book.tokens);
  const last = ofType(await factsIn(store, "root"), "model.finished").at(-1);
  expect(books.book.tokens).toBeLessThanOrEqual(limits.tokensMax + tokens(last?.usage));
  const share = ofType(await factsIn(store, "root"), "child.linked")[0]?.budget?.tokensMax ?? 0;
  const [end] = ofType(await factsIn(store, "root"), "child.finished");
  expect(tokens(end?.usage)).toBeLessThanOrEqual(share);
  expect(tokens(end?.usage)).toBeGreaterThan(share / 2);
});

it("B44: a child in the background reports once what it has in its own background is read", async () => {
  const store = memoryStore();
  const books = vendor();
  const { provider, release } = held(books.provider(() => ({ text: "Lisbon." })));
  const session = createSession({ id: "root", store, agent: tree({ vendor: books, researcher: provider, isBackground: true }) });
  await execute(session, "Go.").result();
  await until(() => middleHasAnswered(store), "the middle agent has answered");
  expect(await countIn(store, "root", "input.accepted")).toBe(1);
  release();
  await until(async () => (await countIn(store, "root", "run.finished")) === 2, "the report is read");
  expect(textOf(session.messages.at(-1) ?? { role: "user", content: "" })).toContain("Its report:\n\nRead: Lisbon.");
  expect(tokens(session.totalUsage)).toBe(books.book.tokens);
});

it("B84: an abort goes down to what a child has in the background, and no run reads its report", async () => {
  const store = memoryStore();
  const books = vendor();
  const { provider } = held(books.provider(() => ({ text: "never" })));
  const session = createSession({ id: "root", store, agent: tree({ vendor: books, researcher: provider }) });
  const result = execute(session, "Go.").result();
  await until(() => middleHasAnswered(store), "the middle agent has answered");
  await session.abort();
  expect((await result).status).toBe("aborted");
  const middle = await childOf(store, "root");
  const bottom = await childOf(store, middle);
  expect(ofType(await factsIn(store, bottom), "run.finished")).toMatchObject([{ status: "aborted", reason: "parent" }]);
  expect(ofType(await factsIn(store, middle), "run.finished").map(({ status }) => status)).toEqual(["completed", "aborted"]);
  expect((await store.log.due({ now: Number.MAX_SAFE_INTEGER })).filter(({ ref }) => ref.session !== bottom)).toEqual([]);
  expect([books.book.calls, tokens(session.totalUsage)]).toEqual([
    3,
    books.book.tokens + tokens(ofType(await factsIn(store, bottom), "model.failed")[0]?.usage),
  ]);
});

it("31: the next process of a parent continues what its child had in the background, and waits for it", async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const books = vendor();
  const first = held(books.provider(() => ({ text: "never" })));
  const dying = dyingStore(store);
  const boot = (researcher: ModelProvider, over: SessionStore, node: number): AgentSession =>
    createSession({ id: "root", store: over, clock, ids: seededIds(node), node: `n${node}`, agent: tree({ vendor: books, researcher }) });
  void execute(boot(first.provider, dying, 1), "Go.")
    .result()
    .catch(() => {});
  await until(() => middleHasAnswered(store), "the middle agent has answered");
  await until(
    async () => (await countIn(store, await childOf(store, await childOf(store, "root")), "model.started")) === 1,
    "the bottom works",
  );
  dying.kill();
  clock.advance(20_001);
  const second = boot(
    books.provider(() => ({ text: "Lisbon." })),
    store,
    2,
  );
  const outcome: { text?: string } = {};
  void resume(second)
    .result()
    .then(({ text }) => Object.assign(outcome, { text }));
  await until(() => {
    clock.advance(250);
    return outcome.text !== undefined;
  }, "the run has ended");
  expect(outcome.text).toBe("Told: Read: Lisbon.");
});

it("D55: what a run that reads a report needs a person for is asked and answered at the root", async () => {
  const store = memoryStore();
  const books = vendor();
  const sign = defineTool({ name: "sign", description: "Signs.", parameters: { type: "object" }, approval: true, execute: () => "signed" });
  const researcher = books.provider(() => ({ text: "Lisbon." }));
  const session = createSession({ id: "root", store, agent: tree({ vendor: books, researcher, onReport: { tool: sign as Tool } }) });
  const { status } = await execute(session, "Go.").result();
  expect([status, session.isResting, session.pendingApprovals.length]).toEqual(["awaiting_tool_execution", true, 1]);
  const decided = await session.decide(session.pendingApprovals[0]?.callKey ?? "", { decision: "allow" });
  expect((await decided.stream().result()).text).toBe("Told: Signed.");
  expect(tokens(session.totalUsage)).toBe(books.book.tokens);
});

it("D55: what a child in the background needs a person for is answered at the child", async () => {
  const store = memoryStore();
  const sign = defineTool({ name: "sign", description: "Signs.", parameters: { type: "object" }, approval: true, execute: () => "signed" });
  const bottom = createAgent({
    name: "researcher",
    tools: [sign],
    provider: scripted([{ calls: [{ name: "sign" }] }, { text: "Signed." }]),
  });
  const provider = scripted([{ calls: [{ name: "researcher", args: { task: "?" } }] }, { text: "Later." }, { text: "Read." }]);
  const agent = createAgent({ name: "root", provider, tools: [agentTool({ agent: bottom, background: true })] as Tool[] });
  const session = createSession({ id: "root", store, agent });
  await execute(session, "Go.").result();
  const child = await childOf(store, "root");
  await until(async () => (await countIn(store, child, "approval.requested")) === 1, "the child asks");
  const own = createSession({ id: child, store, agent: bottom, drives: false });
  await own.ready();
  await own.decide(own.pendingApprovals[0]?.callKey ?? "", { decision: "allow" });
  await until(() => session.messages.some((message) => textOf(message) === "Read."), "the report is read");
});

it("B88: what a person has a child do while it works is on the bill of the tree, and the call above waits for it", async () => {
  const store = memoryStore();
  const books = vendor();
  const { provider, release } = held(books.provider(() => ({ text: "Lisbon." })));
  const session = createSession({ id: "root", store, agent: tree({ vendor: books, researcher: provider, limits: { tokensMax: 10_000 } }) });
  const result = execute(session, "Go.").result();
  await until(() => middleHasAnswered(store), "the middle agent has answered");
  const agent = createAgent({ name: "middle", provider });
  const middle = createSession({ id: await childOf(store, "root"), store, agent, drives: false });
  await middle.submit("The agent: what do you know?");
  release();
  const { usage } = await result;
  expect(tokens(usage)).toBe(books.book.tokens);
  expect(books.book.calls).toBe(7);
});

it("B88: a child that has ended takes no input and fires no schedule: what it spent then would be in no budget", async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const books = vendor();
  const worker = createAgent({ name: "worker", provider: books.provider(() => ({ text: "Done." })) });
  const lead = createAgent({
    name: "lead",
    provider: books.provider((_, isResult) => (isResult ? { text: "All done." } : { calls: [{ name: "worker", args: { task: "Go." } }] })),
    tools: [agentTool({ agent: worker })] as Tool[],
  });
  const session = createSession({ id: "root", store, clock, agent: lead });
  const { usage } = await execute(session, "Go.").result();
  const child = createSession({ id: await childOf(store, "root"), store, clock, agent: worker });
  await child.ready();
  const refused = {
    code: "SESSION_CLOSED",
    fix: "Write to the session `root`.",
    message: expect.stringContaining("takes no input: it is a child that has ended"),
  };
  await expect(execute(child, "And more?").result()).rejects.toMatchObject(refused);
  await expect(child.schedule("later", { at: clock.now() + 1_000, input: "More?" })).rejects.toMatchObject(refused);
  expect([books.book.calls, tokens(usage), tokens(session.totalUsage)]).toEqual([3, books.book.tokens, books.book.tokens]);
});
