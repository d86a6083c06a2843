import { createAgent, createSession, defineTool, execute, type FactOf, type Message, resume, textOf } from "@loopwright/core";
import { fixedPrices, manualClock, memoryStore, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import type { ContextEngine, ModelRequest, SessionStore } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { type CompactionOptions, contextEngine, lightCounter } from "../src/index.ts";
import { type World, world } from "./harness.ts";

const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "seen ".repeat(60) });
const looking: ScriptedTurn = { calls: [{ name: "look" }] };

/** A model that looks five times and then answers. */
const busy = (_: ModelRequest, call: number): ScriptedTurn => (call % 6 === 5 ? { text: `answer ${call}` } : looking);

const compactions = async ({ store, session }: World): Promise<readonly FactOf<"context.compacted">[]> =>
  (await store.log.read({ scope: "local", session: session.id })).filter((fact) => fact.type === "context.compacted");

/** A session of so many inputs in a window of 1,000 tokens. */
async function longSession(inputs: number, compaction: CompactionOptions = {}, script: typeof busy = busy): Promise<World> {
  const made = world(script, { tools: [look], contextTokens: 1_000, context: contextEngine({ compaction }) });
  for (let input = 0; input < inputs; input++) await execute(made.session, `question ${input}`).result();
  return made;
}

const counter = lightCounter();
const tokensOf = ({ messages }: ModelRequest): number => messages.reduce((sum, message) => sum + Number(counter.count("any", message)), 0);

const roles = ({ messages }: ModelRequest): string => messages.map(({ role }) => role).join(" ");

/** Each call has its result right after it, and no result is alone. */
function pairsOf({ messages }: ModelRequest): boolean {
  return messages.every((message, at) => {
    const [before, after] = [messages[at - 1], messages[at + 1]];
    if (message.role === "tool_result") return before?.role === "tool_result" || before?.role === "assistant";
    return message.role !== "assistant" || !message.content.some(({ type }) => type === "tool_call") || after?.role === "tool_result";
  });
}

/** A store from a process that dies when it would record a compaction: nothing that it does afterwards arrives. */
function dyingAtCompaction(store: SessionStore): { readonly store: SessionStore; readonly died: Promise<void> } {
  const died = Promise.withResolvers<void>();
  let isDead = false;
  const never = new Promise<never>(() => {});
  const log: SessionStore["log"] = {
    ...store.log,
    append(ref, request) {
      if (request.facts.some(({ type }) => type === "context.compacted")) {
        isDead = true;
        died.resolve();
      }
      return isDead ? never : store.log.append(ref, request);
    },
    renew: (ref, lease) => (isDead ? never : store.log.renew(ref, lease)),
  };
  return { store: { ...store, log }, died: died.promise };
}

describe("a history that cannot be cut to fit", () => {
  it("row 25: is summarised again where the process died with the summary made and not recorded", async () => {
    const summarising = scripted((_, call) => ({ text: `Summary ${call}.`, usage: { input: 10, output: 2 } }));
    const clock = manualClock();
    const kept = memoryStore({ clock });
    const { store, died } = dyingAtCompaction(kept);
    const context = contextEngine({ compaction: { summary: { provider: summarising } } });
    const made = world(busy, { tools: [look], contextTokens: 1_000, context, session: { store, clock } });
    for (let isDead = false, input = 0; !isDead; input++) {
      const run = execute(made.session, `question ${input}`).result();
      isDead = await Promise.race([run.then(() => false), died.then(() => true)]);
    }
    expect(summarising.requests).toHaveLength(1);
    clock.advance(30_000);
    const next = made.again({ store: kept });
    expect((await resume(next).result()).status).toBe("completed");
    for (let input = 0; input < 3; input++) await execute(next, `question ${input} to the next process`).result();
    const facts = (await kept.log.read({ scope: "local", session: "s1" })).filter((fact) => fact.type === "context.compacted");
    expect(facts.length).toBeGreaterThan(0);
    expect(summarising.requests).toHaveLength(1 + facts.length);
  });

  it("is compacted: requests have the goal, a summary and the newest messages, and the session keeps everything", async () => {
    const made = await longSession(6);
    const { requests } = made.provider;
    expect((await compactions(made)).length).toBeGreaterThan(1);
    for (const request of requests) {
      expect(tokensOf(request)).toBeLessThanOrEqual(1_000);
      expect(textOf(request.messages[0] as Message)).toBe("question 0");
      expect(pairsOf(request)).toBe(true);
    }
    expect(roles(requests.at(-1) as ModelRequest)).toMatch(/^user notice /);
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain("question 5");
    expect(made.session.messages.filter(({ role }) => role === "tool_result")).toHaveLength(29);
  });

  it("has one compaction for a call at most, and each makes the request smaller", async () => {
    const made = await longSession(6);
    const facts = await made.store.log.read({ scope: "local", session: "s1" });
    facts.forEach((fact, at) => {
      if (fact.type !== "context.compacted") return;
      expect(facts[at + 1]?.type).toBe("model.started");
      expect(fact.tokensAfter).toBeLessThan(fact.tokensBefore as number);
      expect(fact).toMatchObject({ runId: expect.any(String), path: expect.any(String) });
    });
  });

  it("is read the same by another process", async () => {
    const one = await longSession(6);
    const other = world(busy, { tools: [look], contextTokens: 1_000 });
    for (let input = 0; input < 6; input++) await execute(other.again(), `question ${input}`).result();
    const shown = ({ provider }: World): unknown =>
      provider.requests.map(({ messages }) => messages.map(({ role }, at) => [role, textOf(messages[at] as Message)]));
    expect(shown(other)).toEqual(shown(one));
  });

  it("keeps pinned messages, and the input that is being answered", async () => {
    const isPinned = (message: Message): boolean => textOf(message) === "question 1";
    const { provider } = await longSession(6, { pin: isPinned });
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("question 1");
    const endless = world((_, call) => (call === 0 ? { text: "hi" } : call < 9 ? looking : { text: "done" }), {
      tools: [look],
      contextTokens: 700,
    });
    await execute(endless.session, "the goal").result();
    await execute(endless.session, "the task").result();
    const last = JSON.stringify(endless.provider.requests.at(-1)?.messages);
    expect([last.includes("the goal"), last.includes("the task"), last.includes("Summary of the conversation")]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("has inputs that arrive while a summary is written", async () => {
    let joined: Promise<unknown> | undefined;
    const summarising = scripted(() => {
      joined ??= made.session.submit("joined meanwhile", { mode: "steer" });
      return { text: "They looked." };
    });
    const made: World = world(busy, {
      tools: [look],
      contextTokens: 1_000,
      context: contextEngine({ compaction: { summary: { provider: summarising } } }),
    });
    for (const input of ["one", "two", "three"]) await execute(made.session, input).result();
    await joined;
    expect(summarising.requests.length).toBeGreaterThan(0);
    expect(made.provider.requests.some(({ messages }) => JSON.stringify(messages).includes("joined meanwhile"))).toBe(true);
  });

  it("fails with CONTEXT_OVERFLOW where compaction is off", async () => {
    const made = world(busy, { tools: [look], contextTokens: 500, context: contextEngine({ compaction: false }) });
    const ends: (string | undefined)[] = [];
    for (let input = 0; input < 8; input++) ends.push((await execute(made.session, `question ${input}`).result()).error?.code);
    expect(ends).toContain("CONTEXT_OVERFLOW");
  });
});

describe("a summary by a model", () => {
  const summarised = async (answer: ScriptedTurn | (() => ScriptedTurn), inputs = 4) => {
    const writer = scripted(typeof answer === "function" ? answer : () => answer);
    const prices = fixedPrices({ [writer.defaultModel]: { inputUsd: 1, outputUsd: 1 } });
    const made = world(busy, {
      tools: [look],
      contextTokens: 1_000,
      prices,
      context: contextEngine({ compaction: { summary: { provider: writer } } }),
    });
    for (let input = 0; input < inputs; input++) await execute(made.session, `question ${input}`).result();
    return { ...made, writer, facts: await compactions(made) };
  };

  it("is recorded with its model, its usage and its cost, which count for the run and the session", async () => {
    const usage = { input: 1_000, output: 50 };
    const { facts, session, writer } = await summarised({ text: "They looked around.", usage });
    expect(facts[0]).toMatchObject({
      summary: "They looked around.",
      model: writer.defaultModel,
      usage,
      cost: { totalUsd: expect.any(Number) },
    });
    expect(session.totalUsage?.input).toBeGreaterThanOrEqual(1_000 * facts.length);
    expect(session.totalCost?.totalUsd).toBeGreaterThan(0);
  });

  it("is asked for with the earlier summary and the messages that it replaces", async () => {
    const { writer, facts } = await summarised({ text: "They looked around." }, 8);
    expect(facts.length).toBeGreaterThan(1);
    const asked = JSON.stringify(writer.requests[1]?.messages);
    expect([asked.includes("They looked around."), asked.includes("RESULT of look"), writer.requests[1]?.maxTokens]).toEqual([
      true,
      true,
      1_000,
    ]);
  });

  it.each<[string, () => ScriptedTurn]>([
    ["fails", () => ({ error: "MODEL_OVERLOADED" })],
    ["is empty", () => ({ text: " " })],
    ["is longer than what it sums up", () => ({ text: "blah ".repeat(2_000) })],
  ])("is an extract where it %s", async (_, answer) => {
    const { facts, session } = await summarised(answer, 6);
    expect(facts[0]?.summary).toContain("question");
    expect(textOf(session.messages.at(-1) as Message)).toContain("answer");
  });

  it("is not asked for again after two failures in a row", async () => {
    const { facts, writer } = await summarised(() => ({ error: "MODEL_OVERLOADED" }), 8);
    expect(facts.length).toBeGreaterThan(2);
    expect(writer.requests).toHaveLength(2);
  });
});

describe("a request that its vendor refuses as too long", () => {
  /** A vendor that counts three times as much as the engine, and reports nothing. */
  const strict =
    (tokens: number) =>
    (request: ModelRequest, call: number): ScriptedTurn => {
      if (tokensOf(request) * 3 > tokens) return { error: "CONTEXT_OVERFLOW" };
      return { ...(call % 4 === 3 ? { text: "answer" } : { calls: [{ name: "look" }] }) };
    };

  it("is shortened and sent once more", async () => {
    const made = world(strict(3_000), { tools: [look], contextTokens: 3_000 });
    const statuses: string[] = [];
    for (let input = 0; input < 5; input++) {
      const result = execute(made.session, `question ${input}`).result();
      let isOver = false;
      void result.then(() => (isOver = true));
      for (let round = 0; round < 200 && !isOver; round++) {
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
        made.clock.advance(2_000);
      }
      statuses.push((await result).status);
    }
    const types = (await made.store.log.read({ scope: "local", session: "s1" })).map(({ type }) => type);
    expect(types).toContain("model.failed");
    expect(statuses).toEqual(["completed", "completed", "completed", "completed", "completed"]);
  });

  it("fails the run where the vendor refuses it again", async () => {
    const made = world(() => ({ error: "CONTEXT_OVERFLOW" }), { contextTokens: 3_000 });
    const result = execute(made.session, "question").result();
    let isOver = false;
    void result.then(() => (isOver = true));
    for (let round = 0; round < 200 && !isOver; round++) {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      made.clock.advance(2_000);
    }
    expect((await result).error?.code).toBe("CONTEXT_OVERFLOW");
    expect(made.provider.requests).toHaveLength(2);
  });
});

describe("the engine", () => {
  /** Six model calls of one run, each with a result that is cut nowhere, in a window of so many tokens. */
  const looped = async (contextTokens: number | undefined) => {
    const asked: string[] = [];
    const engine = contextEngine();
    const context: ContextEngine = {
      open() {
        const inner = engine.open();
        return {
          prepare(call, io) {
            asked.push(`prepare ${call.turn}`);
            return inner.prepare?.(call, io);
          },
          fit(call) {
            asked.push(`fit ${call.turn}`);
            return inner.fit(call);
          },
        };
      },
    };
    const made = world(busy, { tools: [look], ...(contextTokens === undefined ? {} : { contextTokens }), context });
    await execute(made.session, "one").result();
    await execute(made.session, "two").result();
    return { ...made, asked };
  };

  it("B85: is asked before every model call, also in tool loops, and later requests stay within a small limit", async () => {
    const { asked, provider } = await looped(800);
    const turns = Array.from({ length: provider.requests.length }, (_, at) => at);
    expect(asked).toHaveLength(2 * turns.length);
    expect(asked.slice(0, 6)).toEqual(["prepare 1", "fit 1", "prepare 2", "fit 2", "prepare 3", "fit 3"]);
    for (const request of provider.requests) expect(tokensOf(request)).toBeLessThanOrEqual(800);
  });

  it("B85: leaves requests unchanged within a large limit", async () => {
    const [large, none] = [await looped(100_000), await looped(undefined)];
    const shown = ({ provider }: World): unknown =>
      provider.requests.map(({ messages }) => messages.map((message) => [message.role, textOf(message)]));
    expect(shown(large)).toEqual(shown(none));
    expect(await compactions(large)).toEqual([]);
  });

  it("B86: starts the next turn after a reload from the summary, which is stored", async () => {
    const one = await longSession(4);
    const [last] = (await compactions(one)).slice(-1);
    await one.session[Symbol.asyncDispose]();
    await execute(one.again(), "after the reload").result();
    const request = one.provider.requests.findLast(({ messages }) => JSON.stringify(messages.at(-1)).includes("after the reload"));
    expect(textOf(request?.messages[1] as Message)).toBe(`Summary of the conversation so far:\n${last?.summary}`);
  });
});

describe("a compaction that a person asks for", () => {
  it("comes with the next model call of the session, once, however much room there is", async () => {
    const context = contextEngine();
    const made = world(busy, { tools: [look], contextTokens: 100_000, context });
    await execute(made.session, "one").result();
    context.compact(made.session.id);
    await execute(made.session, "two").result();
    expect(await compactions(made)).toHaveLength(1);
  });

  it("is published with its summary and both sizes, also to those that read the run later", async () => {
    const context = contextEngine();
    const made = world(busy, { tools: [look], contextTokens: 100_000, context });
    await execute(made.session, "one").result();
    context.compact(made.session.id);
    const published: unknown[] = [];
    const stream = execute(made.session, "two");
    for await (const event of stream) if (event.type === "context_compacted") published.push(event);
    const [fact] = await compactions(made);
    const { summary, tokensBefore, tokensAfter } = fact as FactOf<"context.compacted">;
    expect(published).toMatchObject([{ summary, tokensBefore, tokensAfter }]);
    const read: unknown[] = [];
    for await (const events of (await made.again().ready()).readRun((await stream.result()).runId as string)) read.push(...events);
    expect(read).toContainEqual(expect.objectContaining({ type: "context_compacted", summary, tokensAfter }));
  });

  it("changes nothing where there is nothing to compact", async () => {
    const context = contextEngine();
    const agent = createAgent({ name: "a", provider: scripted([{ text: "hi" }]), context });
    const session = createSession({ agent, id: "s1" });
    context.compact("s1");
    expect((await execute(session, "one").result()).text).toBe("hi");
  });
});

describe("B48: an input that is ten times too large", () => {
  it("is sent without its middle, the user reads that once, and it is logged once", async () => {
    const logged: string[] = [];
    const logger = { log: (level: string, message: string) => void (level === "warn" && logged.push(message)) };
    const script = (_: ModelRequest, call: number): ScriptedTurn => (call < 3 ? looking : { text: "ok" });
    const made = world(script, { tools: [look], contextTokens: 2_000, session: { logger } });
    const stream = execute(made.session, "x".repeat(80_000));
    const notes: string[] = [];
    for await (const event of stream) if (event.type === "verdict") notes.push(`${event.hook} ${event.action}: ${event.reason}`);
    expect(notes).toEqual([
      "context cut_input: This message of about 20003 tokens is too long for the model: it is sent without its middle.",
    ]);
    expect(logged).toEqual(["USER_MESSAGE_TOO_LARGE: a message is sent without its middle."]);
    for (const { messages } of made.provider.requests) expect(JSON.stringify(messages).length).toBeLessThan(8_000);
    expect(textOf(made.session.messages[0] as Message)).toHaveLength(80_000);
  });
});
