import { createAgent, createSession, defineTool } from "@loopwright/core";
import { manualClock, memoryChannel, memoryQueue, memoryStore, scripted, silentLogger } from "@loopwright/core/memory";
import type { RunQueue, SessionStore } from "@loopwright/core/ports";
import type { Worker } from "@loopwright/host";
import { createHealthServer } from "@loopwright/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { runClock, until } from "../../host/test/turn-of-loop.ts";
import { commandedModel } from "./commanded-model.ts";
import { quiet } from "./commanded-scene.ts";
import { openNodes } from "./nodes-scene.ts";
import { serve, type WorkOptions, work } from "./serve.ts";
import { fromHere, scriptedAgent, testServer } from "./test-server.ts";

const local = (session: string) => ({ scope: "local", session });
const typesOf = async (store: SessionStore, session: string): Promise<readonly string[]> =>
  (await store.log.read(local(session))).map(({ type }) => type);

/** A queue that loses every hint. */
const deafQueue = (): RunQueue => ({ ...memoryQueue(), offer: async () => {} });

/** Sessions that were recorded by a process that runs none, and is gone. */
async function record(store: SessionStore, names: readonly string[], agent = scriptedAgent()): Promise<void> {
  for (const id of names) {
    const session = createSession({ agent, id, store, drives: false });
    await session.submit("Hi.");
    await session[Symbol.asyncDispose]();
  }
}

/** As one between processes states of itself. */
const { reach: _, ...sharedChannel } = memoryChannel();

function startWorker(options: Partial<WorkOptions> & Pick<WorkOptions, "store">): Worker {
  const worker = work({ agents: [scriptedAgent()], channel: sharedChannel, logger: silentLogger, ...options });
  onTestFinished(() => worker.close());
  return worker;
}

describe("a worker", () => {
  it("runs at once the inputs of a server that runs nothing", async () => {
    const { nodes, facts } = await openNodes({ roles: ["server", "worker"] });
    const [server, worker] = nodes;
    await server?.say("Hi.");
    // The clock stands still: no sweep has found it.
    await until(() => worker?.model.calls === 1, "the worker runs it");
    expect([server?.door.running, worker?.door.running]).toEqual([0, 1]);
    worker?.model.say("Hello.");
    worker?.model.end();
    await until(async () => (await facts()).at(-1) === "run.finished", "the run ends");
    expect(server?.model.calls).toBe(0);
  });

  it("takes no session any more once it drains", async () => {
    const { nodes, run, facts } = await openNodes({ roles: ["server", "worker", "worker"] });
    const [server, draining, other] = nodes;
    draining?.door.drain();
    await server?.say("Hi.");
    run(10);
    await until(() => other?.model.calls === 1, "the other worker runs it");
    expect([draining?.model.calls, draining?.door.running]).toEqual([0, 0]);
    other?.model.say("Hello.");
    other?.model.end();
    await until(async () => (await facts()).at(-1) === "run.finished", "the run ends");
  });

  it.each([
    ["loses every hint", deafQueue()],
    ["takes no hints", { ...memoryQueue(), offer: () => Promise.reject(new Error("The queue is gone.")) }],
  ])("finds by its sweeps, within ten seconds, the sessions that a queue that %s did not name", async (_, queue) => {
    const { nodes, run, clock } = await openNodes({ roles: ["server", "worker"], queue });
    const [server, worker] = nodes;
    const writtenAt = clock.now();
    await server?.say("Hi.");
    await quiet();
    expect(worker?.model.calls).toBe(0);
    run(10);
    await until(() => worker?.model.calls === 1, "the worker runs it");
    expect(clock.now() - writtenAt).toBeLessThanOrEqual(10_000);
  });

  it("without a queue looks four times a second", async () => {
    const [clock, model] = [manualClock(), commandedModel()];
    const store = memoryStore({ clock });
    startWorker({ store, clock, agents: [createAgent({ name: "helper", provider: model.provider })] });
    await quiet();
    await record(store, ["one"]);
    clock.advance(250);
    await until(() => model.calls === 1, "it runs the session");
  });

  it("runs at its start what was left, of every scope, and more sessions than one sweep finds", async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const names = Array.from({ length: 12 }, (_, place) => `left-${place}`);
    await record(store, names);
    startWorker({ store, clock, limits: { sessionsPerSweep: 5, workerSessions: 2 } });
    const stop = runClock(clock, 10);
    await until(async () => {
      const last = await Promise.all(names.map(async (name) => (await typesOf(store, name)).at(-1)));
      return last.every((type) => type === "run.finished");
    }, "all have run");
    stop();
  });

  it("keeps no more sessions at once than it may", async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    await record(store, ["a", "b", "c", "d", "e"]);
    const model = scripted(() => ({ text: "Hm.", hang: true }));
    const worker = startWorker({ store, clock, agents: [createAgent({ name: "helper", provider: model })], limits: { workerSessions: 3 } });
    const stop = runClock(clock, 100);
    await until(() => model.requests.length >= 3, "three run");
    const sweptAt = clock.now() + 25_000;
    await until(() => clock.now() >= sweptAt, "sweeps have come");
    stop();
    expect([worker.running, model.requests.length]).toEqual([3, 3]);
  });

  it("is not held up by a session that it cannot open, reports it, and tries it at growing intervals", async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    await record(store, ["strange"], createAgent({ name: "stranger", provider: scripted([]) }));
    await record(store, ["known"]);
    const logged: unknown[] = [];
    startWorker({ store, clock, logger: { log: (level, _, fields) => void logged.push([level, fields]) } });
    await until(async () => (await typesOf(store, "known")).at(-1) === "run.finished", "the other one has run");
    const stop = runClock(clock, 100);
    const began = clock.now();
    await until(() => clock.now() - began > 100_000, "time has passed");
    stop();
    const fields = { scope: "local", session: "strange", code: "AGENT_NOT_FOUND" };
    // After 10, 20 and 40 seconds, and at once.
    expect(logged).toEqual([1, 2, 3, 4].map(() => ["error", fields]));
  });

  it("closes a client call whose deadline passed while no process was there", async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const tool = defineTool({ name: "pick", description: "Lets the user pick.", parameters: { type: "object" }, timeoutMs: 60_000 });
    const script = () => scripted([{ calls: [{ name: "pick" }] }, { text: "Too late." }]);
    const first = createSession({ agent: createAgent({ name: "helper", provider: script(), tools: [tool] }), id: "s", store, clock });
    await first.submit("Pick.");
    await until(() => first.pendingToolCalls.length === 1, "it waits");
    await first[Symbol.asyncDispose]();
    clock.advance(59_000);
    const provider = scripted([{ text: "Too late." }]);
    startWorker({ store, clock, agents: [createAgent({ name: "helper", provider, tools: [tool] })] });
    await quiet();
    expect(provider.requests.length).toBe(0);
    const stop = runClock(clock, 50);
    await until(async () => (await typesOf(store, "s")).at(-1) === "run.finished", "the run ends");
    stop();
    const closing = (await store.log.read(local("s"))).find(({ type }) => type === "client.answered" || type === "tool.finished");
    expect(closing).toMatchObject({ outcome: "expired" });
  });

  it("corrects the date of a session that owes nothing", async () => {
    const store = memoryStore();
    await record(store, ["s"]);
    const done = createSession({ agent: scriptedAgent(), id: "s", store });
    await done.submit("Hi.", { idempotencyKey: "again" });
    await until(() => done.isResting, "it rests");
    await done[Symbol.asyncDispose]();
    const { lastSeq } = await store.log.head(local("s"));
    await store.log.setDue(local("s"), { expectedSeq: lastSeq, due: 0 });
    expect(await store.log.due({ now: Date.now() })).toHaveLength(1);
    startWorker({ store });
    await until(async () => (await store.log.due({ now: Date.now() })).length === 0, "it owes nothing");
    expect((await store.log.head(local("s"))).lastSeq).toBe(lastSeq);
  });

  it("reports its health, and has no other route", async () => {
    const worker = startWorker({ store: memoryStore() });
    const { fetch } = createHealthServer({ host: worker });
    const get = (path: string): Promise<Response> => fetch(new Request(`http://localhost${path}`), fromHere);
    expect([(await get("/healthz")).status, (await get("/readyz")).status, (await get("/api/sessions")).status]).toEqual([200, 200, 404]);
    expect(await (await get("/metrics")).text()).toContain("loopwright_runs_active 0");
    worker.drain();
    expect([(await get("/healthz")).status, (await get("/readyz")).status]).toEqual([200, 503]);
  });
});

describe("A15: a node that is one of several", () => {
  const warned = (logged: readonly { readonly level: string; readonly message: string }[]): boolean =>
    logged.some(({ level, message }) => level === "warn" && message.includes("channel"));

  it.each([
    ["of the role `server`", { role: "server" }, true],
    ["with a queue", { queue: memoryQueue() }, true],
    ["as it is told", { isOneOfMany: true }, true],
    ["with a channel in memory", { isOneOfMany: true, channel: memoryChannel() }, true],
    ["of the role `server`, with a channel in memory", { role: "server", channel: memoryChannel() }, true],
    ["with a channel that all share", { role: "server", channel: sharedChannel }, false],
    ["alone", {}, false],
    ["alone, with a channel in memory", { channel: memoryChannel() }, false],
  ] as const)("(%s) warns at its start of a channel that reaches itself only", async (_, options, isWarned) => {
    const { server, logged } = testServer(options);
    expect(warned(logged)).toBe(isWarned);
    await server.close();
  });

  it("continues at its start what another one left, and reports how many", async () => {
    const store = memoryStore();
    await record(store, ["one", "two"]);
    const server = serve({ agents: [scriptedAgent()], store, logger: silentLogger });
    onTestFinished(() => server.close());
    expect([await server.recover("local"), await server.recover("other")]).toEqual([2, 0]);
    await until(async () => (await typesOf(store, "two")).at(-1) === "run.finished", "it has run");
  });
});
