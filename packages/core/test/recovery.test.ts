import { describe, expect, it } from "vitest";
import { createAgent, createSession, defineTool, execute, type Fact, resume, type Tool } from "../src/index.ts";
import { memoryStore, type ScriptedTurn, scripted } from "../src/memory/index.ts";
import type { ModelRequest, SessionStore } from "../src/ports/index.ts";
import { type ManualClock, manualClock } from "../src/testing/manual-clock.ts";
import { seededIds } from "../src/testing/seeded-ids.ts";
import { type Death, type DyingStore, dyingStore } from "./dying-store.ts";
import { calm, deferred } from "./harness.ts";

const object = { type: "object" } as const;

/** Answers by what it is shown, so that a second process gives the same conversation as the first. */
function answer(request: ModelRequest): ScriptedTurn {
  const results = request.messages.filter((message) => message.role === "tool_result");
  if (results.length === 0) return { text: "let me", calls: [{ name: "once" }, { name: "again" }, { name: "pure" }] };
  if (results.length === 3) return { text: "and", calls: [{ name: "once" }] };
  return { text: "done" };
}

interface Process {
  readonly store: DyingStore;
  readonly session: ReturnType<typeof createSession>;
}

/** One store, and processes that die over it. Tools write each start into `starts`, as a witness would. */
function machine(tools?: readonly Tool[]) {
  const clock = manualClock();
  const real: SessionStore = memoryStore({ clock });
  const starts: string[] = [];
  const tool = (name: string, replay: "once" | "idempotent" | "pure"): Tool =>
    defineTool({
      name,
      description: `Is ${name}.`,
      parameters: object,
      replay,
      execute: (_, { callKey, attempt }) => {
        starts.push(`${name} ${callKey} ${attempt}`);
        return `${name} ok`;
      },
    });
  const provider = scripted(answer as never);
  const agent = createAgent({
    name: "a",
    provider,
    tools: tools ?? [tool("once", "once"), tool("again", "idempotent"), tool("pure", "pure")],
  });
  let count = 0;
  const boot = (death?: Death, ownClock: ManualClock = clock): Process => {
    const store = dyingStore(real, death);
    return { store, session: createSession({ agent, id: "s", store, clock: ownClock, ids: seededIds(++count), node: `n${count}` }) };
  };
  const facts = (): Promise<readonly Fact[]> => real.log.read({ scope: "local", session: "s" });
  return { clock, boot, facts, starts, provider };
}

/** Lets timers of retries and polls fire until the promise is settled. */
async function finish<T>(promise: Promise<T>, clock: ManualClock): Promise<T> {
  let isSettled = false;
  promise.then(
    () => {
      isSettled = true;
    },
    () => {
      isSettled = true;
    },
  );
  for (let round = 0; round < 200 && !isSettled; round++) {
    await calm();
    if (!isSettled) clock.advance(250);
  }
  if (!isSettled) throw new Error("never settled");
  return promise;
}

const leaseMs = 15_000;
const countOf = (facts: readonly Fact[], type: Fact["type"]): number => facts.filter((fact) => fact.type === type).length;

/** How many appends the whole conversation takes when nobody dies. */
async function lengthOfLife(): Promise<number> {
  const { boot } = machine();
  const { session, store } = boot();
  await execute(session, "go").result();
  return store.appends;
}

describe("a process that dies at any append", () => {
  it("leaves a session that the next owner brings to its end, without a loss or a double", async () => {
    const length = await lengthOfLife();
    expect(length).toBeGreaterThan(4);
    for (let at = 1; at <= length; at++) {
      for (const when of ["before", "after"] as const) {
        const { boot, clock, facts, starts } = machine();
        const first = boot({ at, when });
        execute(first.session, "go", { idempotencyKey: "k" });
        await calm();
        expect(first.store.isDead).toBe(true);
        clock.advance(leaseMs + 1);
        const second = boot();
        const result = await finish(execute(second.session, "go", { idempotencyKey: "k" }).result(), clock);
        const log = await facts();
        const where = `append ${at}, ${when}`;
        expect(result.text, where).toBe("done");
        expect(countOf(log, "input.accepted"), where).toBe(1);
        for (const key of new Set(starts.filter((start) => start.startsWith("once"))))
          expect(
            starts.filter((start) => start === key),
            where,
          ).toHaveLength(1);
        const onceKeys = starts.filter((start) => start.startsWith("once")).map((start) => start.split(" ")[1]);
        expect(new Set(onceKeys).size, where).toBe(onceKeys.length);
        expect(
          log.map(({ seq }) => seq),
          where,
        ).toEqual(log.map((_, i) => i + 1));
      }
    }
  });

  it("and again during the recovery, is survived as well", async () => {
    const length = await lengthOfLife();
    for (let at = 1; at <= length; at++) {
      for (let then = 1; then <= 3; then++) {
        const { boot, clock, starts } = machine();
        execute(boot({ at, when: "after" }).session, "go");
        await calm();
        clock.advance(leaseMs + 1);
        const second = boot({ at: then, when: "after" });
        resume(second.session);
        await calm();
        for (let i = 0; i < 20; i++) {
          clock.advance(1_000);
          await calm();
        }
        clock.advance(leaseMs + 1);
        const third = boot();
        await finish(resume(third.session).result(), clock);
        expect(third.session.status, `append ${at}, then ${then}`).toBe("completed");
        const onceKeys = starts.filter((start) => start.startsWith("once")).map((start) => start.split(" ")[1]);
        expect(new Set(onceKeys).size).toBe(onceKeys.length);
      }
    }
  });
});

/** Runs the first process until it dies, and gives the second one after the lease is over. */
async function dieAndBoot(world: ReturnType<typeof machine>, death: Death): Promise<Process> {
  const first = world.boot(death);
  execute(first.session, "go");
  await calm();
  world.clock.advance(leaseMs + 1);
  return world.boot();
}

describe("the recovery table", () => {
  it("rows 1, 2: an input whose append was cut off is accepted once when it is sent again under its key", async () => {
    for (const when of ["before", "after"] as const) {
      const { boot, clock, facts } = machine();
      execute(boot({ at: 1, when }).session, "go", { idempotencyKey: "k" });
      await calm();
      clock.advance(leaseMs + 1);
      expect((await finish(execute(boot().session, "go", { idempotencyKey: "k" }).result(), clock)).text).toBe("done");
      expect(countOf(await facts(), "input.accepted")).toBe(1);
    }
  });

  it("rows 3, 4: an input that is durable without a run gets one from whoever resumes", async () => {
    const { boot, clock, facts } = machine();
    const { session, store } = boot();
    await store.log.append(
      { scope: "local", session: "s" },
      {
        expectedSeq: 0,
        batchId: "b",
        facts: [
          { type: "session.opened", agent: "a", at: 0, v: 1 },
          { type: "input.accepted", inputId: "i", runId: "r", mode: "enqueue", message: { role: "user", content: "go" }, at: 0, v: 1 },
        ],
      },
    );
    expect((await finish(resume(session).result(), clock)).text).toBe("done");
    expect(countOf(await facts(), "run.started")).toBe(1);
  });

  it("rows 5, 6, 7: a claim, a run or a model call that never went out is made again", async () => {
    const world = machine();
    const second = await dieAndBoot(world, { at: 1, when: "after" });
    expect((await finish(resume(second.session).result(), world.clock)).text).toBe("done");
    const log = await world.facts();
    expect(log.find((fact) => fact.type === "model.failed")).toMatchObject({ attempt: 1, failure: { code: "CRASHED" } });
    expect(log.filter((fact) => fact.type === "model.started")[1]).toMatchObject({ turn: 1, attempt: 2 });
  });

  it("rows 8, 9: an answer that was cut off is told as thrown away, and made again from the start", async () => {
    const world = machine();
    const second = await dieAndBoot(world, { at: 2, when: "before" });
    const stream = resume(second.session);
    const result = await finish(stream.result(), world.clock);
    const events = [];
    for await (const event of stream) events.push(event);
    const discarded = events.findIndex(({ type }) => type === "attempt_discarded");
    expect(events[discarded]).toMatchObject({ code: "CRASHED", willRetry: true });
    expect(events.slice(0, discarded).some(({ type }) => type === "text_delta")).toBe(false);
    expect(result.text).toBe("done");
  });

  it("row 10: a committed answer whose acknowledgement was lost is not asked for again", async () => {
    const world = machine();
    const second = await dieAndBoot(world, { at: 2, when: "after" });
    const asked = world.provider.requests.length;
    await finish(resume(second.session).result(), world.clock);
    const committed = (await world.facts()).filter((fact) => fact.type === "model.finished" && fact.turn === 1);
    expect(committed).toHaveLength(1);
    expect(asked).toBe(1);
  });

  it("rows 11, 12, 13: a started once tool is reported as interrupted and not started again", async () => {
    const world = machine();
    const second = await dieAndBoot(world, { at: 2, when: "after" });
    await finish(resume(second.session).result(), world.clock);
    const results = (await world.facts()).filter((fact) => fact.type === "tool.finished" && fact.callKey.endsWith(".1.0"));
    expect(results).toMatchObject([{ outcome: "interrupted", output: [{ text: expect.stringContaining("Do not assume it failed") }] }]);
    expect(world.starts.filter((start) => start.startsWith("once") && start.includes(".1.0"))).toEqual([]);
  });

  it("row 13: a once tool that can say what became of a call is asked first", async () => {
    const hangs = deferred();
    const asked: string[] = [];
    const payment = defineTool({
      name: "once",
      description: "Pays.",
      parameters: object,
      execute: async () => hangs.promise.then(() => "never seen"),
      lookup: async (key) => {
        asked.push(key);
        return "paid";
      },
    });
    const tools = [
      payment,
      defineTool({ name: "again", description: "x", parameters: object, execute: () => "ok" }),
      defineTool({ name: "pure", description: "x", parameters: object, execute: () => "ok" }),
    ];
    const world = machine(tools);
    const second = await dieAndBoot(world, { at: 3, when: "before" });
    const running = resume(second.session).result();
    await calm();
    const first = (await world.facts()).find((fact) => fact.type === "tool.finished" && fact.callKey.endsWith(".1.0"));
    expect(first).toMatchObject({ outcome: "ok", output: [{ text: "paid" }] });
    expect(asked[0]).toBe(first && "callKey" in first ? first.callKey : "");
    hangs.resolve();
    await finish(running, world.clock);
  });

  it("rows 14, 15, 16: idempotent and pure tools run again under the same key, as the next attempt", async () => {
    const world = machine();
    const second = await dieAndBoot(world, { at: 2, when: "after" });
    await finish(resume(second.session).result(), world.clock);
    const started = (await world.facts()).filter((fact) => fact.type === "tool.started" && fact.callKey.endsWith(".1.1"));
    expect(started.map((fact) => fact.type === "tool.started" && fact.attempt)).toEqual([1, 2]);
    expect(new Set(started.map((fact) => fact.type === "tool.started" && fact.idempotencyKey)).size).toBe(1);
  });

  it("row 17: of three parallel calls only the one without a result is handled", async () => {
    const gate = deferred();
    const runs: string[] = [];
    const make = (name: string, act: () => Promise<string> | string): Tool =>
      defineTool({
        name,
        description: "x",
        parameters: object,
        replay: "idempotent",
        execute: (_, { attempt }) => {
          runs.push(`${name} ${attempt}`);
          return act();
        },
      });
    const world = machine([make("once", () => "ok"), make("again", () => "ok"), make("pure", async () => gate.promise.then(() => "slow"))]);
    const first = world.boot();
    execute(first.session, "go");
    await calm();
    expect(countOf(await world.facts(), "tool.finished")).toBe(2);
    await first.session[Symbol.asyncDispose]();
    gate.resolve();
    const second = world.boot();
    await finish(resume(second.session).result(), world.clock);
    expect(runs.filter((run) => run.endsWith("2"))).toEqual(["pure 2"]);
  });

  it("an owner that was paused past its lease is fenced: it drops everything and one history remains", async () => {
    const gate = deferred();
    const slow = defineTool({ name: "once", description: "x", parameters: object, execute: async () => gate.promise.then(() => "late") });
    const tools = [
      slow,
      ...["again", "pure"].map((name) => defineTool({ name, description: "x", parameters: object, execute: () => "ok" })),
    ];
    const { boot, clock, facts } = machine(tools);
    const paused = manualClock();
    const zombie = boot(undefined, paused);
    const old = execute(zombie.session, "go");
    await calm();
    clock.advance(leaseMs + 1);
    const next = boot();
    const running = resume(next.session).result();
    await calm();
    gate.resolve();
    await finish(running, clock);
    const settled = (await facts()).filter((fact) => fact.type === "tool.finished" && fact.callKey.endsWith(".1.0"));
    expect(settled).toMatchObject([{ outcome: "interrupted" }]);
    expect((await finish(old.result(), paused)).status).toBe("completed");
  });

  it("the same words said again after a crash are not a second input, unless they were answered", async () => {
    const world = machine();
    const second = await dieAndBoot(world, { at: 2, when: "before" });
    await second.session.ready();
    expect(second.session.isInterrupted).toBe(true);
    await finish(execute(second.session, "go").result(), world.clock);
    expect(countOf(await world.facts(), "input.accepted")).toBe(1);
    await finish(execute(second.session, "go").result(), world.clock);
    expect(countOf(await world.facts(), "input.accepted")).toBe(2);
  });
});
