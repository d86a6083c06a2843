import { type AgentSession, createAgent, createSession, defineTool, execute } from "@loopwright/core";
import { fixedPrices, manualClock, memoryLedger, memoryStore, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import type { AppendRequest, SessionLog, SessionStore } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import { contextEngine } from "../src/index.ts";

const ref = { scope: "local", session: "s" } as const;
const prices = fixedPrices({ large: { inputUsd: 10, outputUsd: 10 }, small: { inputUsd: 1, outputUsd: 1 } });
const usage = { input: 50, output: 10 };
const summaryUsage = { input: 400, output: 30 };
const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "seen ".repeat(120) });

function looker() {
  const busy = (_: unknown, call: number): ScriptedTurn =>
    call % 6 === 5 ? { text: `answer ${call}`, usage } : { calls: [{ name: "look" }], usage };
  const base = scripted(busy as never, { model: "large" });
  const capabilities = (model: string) => ({ ...base.capabilities(model), contextTokens: 1_000 });
  const provider = { ...base, stream: base.stream.bind(base), capabilities };
  const writer = scripted(() => ({ text: "They looked.", usage: summaryUsage }), { model: "small" });
  const context = contextEngine({ compaction: { summary: { provider: writer, model: "small" } } });
  return { base, writer, agent: createAgent({ name: "looker", provider, tools: [look], context, prices, maxTokens: 100 }) };
}

/** The store as a process sees it from which another one takes the session right before its n-th append. */
function takenBefore(store: SessionStore, at: number, take: () => Promise<void>) {
  const { log } = store;
  const seen = { appends: 0, taken: undefined as AppendRequest | undefined };
  const alone: SessionLog = {
    read: (one, options) => log.read(one, options),
    head: (one) => log.head(one),
    claim: (one, claim) => log.claim(one, claim),
    renew: (one, lease) => log.renew(one, lease),
    release: (one, epoch) => log.release(one, epoch),
    remove: (one) => log.remove(one),
    due: (options) => log.due(options),
    setDue: (one, options) => log.setDue(one, options),
    async append(one, request) {
      seen.appends += 1;
      if (seen.appends === at && request.epoch !== undefined) {
        seen.taken = request;
        await log.release(one, request.epoch);
        await take();
      }
      return log.append(one, request);
    },
  };
  return { store: { ...store, log: alone }, seen };
}

/** Plays three questions; the session goes to another process at one append. Gives what ledger and log count. */
async function playTaken(at: number) {
  const { agent, writer } = looker();
  const books = memoryLedger({ limits: { "scope/local": {} } });
  const store = memoryStore();
  let second: AgentSession | undefined;
  const take = async (): Promise<void> => {
    second = await createSession({ id: "s", agent, store, ledger: books, node: "n2" }).ready();
    await execute(second, "And now?").result();
  };
  const { store: watched, seen } = takenBefore(store, at, take);
  const first = createSession({ id: "s", agent, store: watched, ledger: books, node: "n1" });
  for (let input = 0; input < 3 && !seen.taken; input++)
    await execute(first, `question ${input}`)
      .result()
      .catch(() => {});
  await first[Symbol.asyncDispose]();
  await second?.[Symbol.asyncDispose]();
  const last = await createSession({ id: "s", agent, store, ledger: books }).ready();
  const { totalUsage, totalCost } = last;
  await last[Symbol.asyncDispose]();
  const facts = await store.log.read(ref);
  const inLog = (totalUsage?.input ?? 0) + (totalUsage?.output ?? 0);
  return {
    at,
    appends: seen.appends,
    taken: seen.taken,
    facts,
    writer,
    inLog,
    costInLog: totalCost?.totalUsd ?? 0,
    spent: books.spent("scope/local"),
  };
}

it("B84: ledger and log count the same, whichever append of a session with summaries its process loses to another one", async () => {
  const whole = await playTaken(Number.POSITIVE_INFINITY);
  expect(whole.writer.requests.length).toBeGreaterThan(1);
  const ends = new Set<string>();
  for (let at = 1; at <= whole.appends; at++) {
    const { taken, facts, inLog, costInLog, spent } = await playTaken(at);
    if (!taken) continue;
    const fenced = taken.facts.map(({ type }) => type);
    expect(spent.tokens, `fenced at append ${at}: ${fenced.join()}`).toBe(inLog);
    expect(spent.costUsd, `fenced at append ${at}: ${fenced.join()}`).toBeCloseTo(costInLog, 9);
    const open = facts.filter(({ type }) => type === "summary.started").length;
    const closed = facts.filter((fact) => fact.type === "summary.failed" || (fact.type === "context.compacted" && fact.usage)).length;
    expect(closed, `fenced at append ${at}`).toBe(open);
    for (const type of fenced) ends.add(type);
  }
  // Without these the test would show nothing of summaries.
  expect([...ends]).toEqual(expect.arrayContaining(["summary.started", "context.compacted", "model.started", "model.finished"]));
});

/** The store as a process sees it that dies at its n-th append, which is done or not: from then on nothing is answered. */
function dying(store: SessionStore, at: number, isDone: boolean) {
  const { log } = store;
  const seen = { appends: 0, isDead: false };
  const never = new Promise<never>(() => {});
  const alive =
    <Args extends readonly unknown[], T>(act: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      seen.isDead ? never : act(...args);
  const alone: SessionLog = {
    read: alive((one, options) => log.read(one, options)),
    head: alive((one) => log.head(one)),
    claim: alive((one, claim) => log.claim(one, claim)),
    renew: alive((one, lease) => log.renew(one, lease)),
    release: alive((one, epoch) => log.release(one, epoch)),
    remove: alive((one) => log.remove(one)),
    due: alive((options) => log.due(options)),
    setDue: alive((one, options) => log.setDue(one, options)),
    append: alive(async (one, request) => {
      seen.appends += 1;
      seen.isDead = seen.appends >= at;
      if (seen.isDead && isDone) await log.append(one, request);
      return seen.isDead ? never : log.append(one, request);
    }),
  };
  return { store: { ...store, log: alone }, seen };
}

/** Plays three questions; the process dies at one append, and another one continues. Gives what vendors, log and ledger count. */
async function playKilled(at: number, isDone: boolean) {
  const { agent, base, writer } = looker();
  const clock = manualClock();
  const books = memoryLedger({ limits: { "scope/local": {} } });
  const store = memoryStore({ clock });
  const { store: watched, seen } = dying(store, at, isDone);
  const first = createSession({ id: "s", agent, store: watched, ledger: books, node: "n1", clock });
  let isOver = false;
  const talk = async (): Promise<void> => {
    for (let input = 0; input < 3; input++) await execute(first, `question ${input}`).result();
  };
  talk()
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });
  const pass = async (until: () => boolean): Promise<void> => {
    while (!until()) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1);
    }
  };
  await pass(() => isOver || seen.isDead);
  clock.advance(21_000);
  const second = await createSession({ id: "s", agent, store, ledger: books, node: "n2", clock }).ready();
  let isAnswered = false;
  void execute(second, "And now?")
    .result()
    .finally(() => {
      isAnswered = true;
    });
  await pass(() => isAnswered);
  const { totalUsage } = second;
  return {
    appends: seen.appends,
    byVendors: base.requests.length * (usage.input + usage.output) + writer.requests.length * (summaryUsage.input + summaryUsage.output),
    inLog: (totalUsage?.input ?? 0) + (totalUsage?.output ?? 0),
    spent: books.spent("scope/local").tokens,
  };
}

it.each([
  ["before", false],
  ["after", true],
] as const)("B84: no death of a process %s any append makes log or ledger count less than the vendors have", async (_, isDone) => {
  const whole = await playKilled(Number.POSITIVE_INFINITY, false);
  expect([whole.inLog, whole.spent]).toEqual([whole.byVendors, whole.byVendors]);
  for (let at = 1; at <= whole.appends; at++) {
    const { byVendors, inLog, spent } = await playKilled(at, isDone);
    expect(inLog, `death at append ${at}`).toBeGreaterThanOrEqual(byVendors);
    expect(spent, `death at append ${at}`).toBeGreaterThanOrEqual(inLog);
  }
});
