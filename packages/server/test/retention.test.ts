import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentSession, createAgent, createSession, defineTool, type Observer } from "@loopwright/core";
import { manualClock, memoryStore, scripted, silentLogger } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { createHost, createRuntime, type Worker } from "@loopwright/host";
import { type RedisProcess, redisMissing, startRedis } from "@loopwright/simulator/node";
import { redisStore } from "@loopwright/store-redis";
import { sqliteStore } from "@loopwright/store-sqlite";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { runClock, until } from "../../host/test/turn-of-loop.ts";
import { clientScene } from "./client-scene.ts";
import { work } from "./serve.ts";
import { scriptedAgent, testServer } from "./test-server.ts";

const missing = redisMissing();
if (missing) console.info(`Skipped: retention over a store of Redis: ${missing}.`);
let redis: RedisProcess | undefined;
beforeAll(async () => {
  if (!missing) redis = await startRedis();
});
afterAll(() => redis?.stop());

const dayMs = 86_400_000;
const agent = scriptedAgent();
const ref = (session: string) => ({ scope: "local", session });
const lastSeqOf = async (store: SessionStore, session: string): Promise<number> => (await store.log.head(ref(session))).lastSeq;

async function sqlite(): Promise<SessionStore> {
  const folder = await mkdtemp(join(tmpdir(), "retention-"));
  const store = sqliteStore({ path: join(folder, "sessions.db") });
  onTestFinished(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });
  return store;
}

async function overRedis(): Promise<SessionStore> {
  const store = redisStore({ url: redis?.url ?? "", deadlineMs: 20_000 });
  onTestFinished(() => store.close());
  return store;
}

/** Holds the clock in most turns of the event loop, so that a slow store does not let a day pass. */
function everyFiftieth(): () => boolean {
  let turn = 0;
  return () => ++turn % 50 !== 0;
}

/** A store, a clock, and as many workers on them as a test starts. */
function scene(store: SessionStore) {
  const clock = manualClock(Date.now());
  const session = (id: string): AgentSession => createSession({ agent, id, store, clock, drives: false });
  const startWorker = (own: SessionStore = store): Worker => {
    const worker = work({ agents: [agent], store: own, clock, logger: silentLogger });
    onTestFinished(() => worker.close());
    return worker;
  };
  const run = (stepMs: number): void => onTestFinished(runClock(clock, stepMs));
  return { clock, session, startWorker, run };
}

describe.each<[string, () => SessionStore | Promise<SessionStore>, boolean]>([
  ["memory", () => memoryStore(), false],
  ["SQLite", sqlite, false],
  ["Redis", overRedis, missing !== undefined],
])("retention over a store of %s", (_, openStore, isSkipped) => {
  it.skipIf(isSkipped)("erases a session that long after its last fact, and neither a held one nor one that is kept", async () => {
    const store = await openStore();
    const { clock, session, startWorker } = scene(store);
    for (const id of ["old", "held", "kept", "used"])
      await session(id).change({ title: id, ...(id === "kept" ? {} : { retention: { keepMs: dayMs } }) });
    expect(await session("held").hold({ reason: "case 7" })).toBe(true);
    for (let worker = 0; worker < 2; worker++) startWorker();
    clock.advance(dayMs - 60_000);
    const used = session("used");
    await used.change({ title: "still in use" });
    expect(used.erasableAt).toBe(clock.now() + dayMs);
    const stop = runClock(clock, 500, everyFiftieth());
    await until(async () => (await lastSeqOf(store, "old")) === 0, "the old one is erased");
    stop();
    for (const id of ["held", "kept", "used"]) expect(await lastSeqOf(store, id)).toBeGreaterThan(1);
    await session("held").releaseHold();
    expect(await session("held").ready()).toMatchObject({ erasableAt: clock.now() + dayMs });
    clock.advance(dayMs);
    const again = runClock(clock, 500, everyFiftieth());
    await until(async () => (await lastSeqOf(store, "held")) === 0 && (await lastSeqOf(store, "used")) === 0, "both are erased");
    again();
    expect(await lastSeqOf(store, "kept")).toBeGreaterThan(1);
  });

  it.skipIf(isSkipped)("is completed by another worker if the first one dies before the log is removed", async () => {
    const store = await openStore();
    const { clock, session, startWorker, run } = scene(store);
    await session("left").change({ retention: { keepMs: dayMs } });
    clock.advance(dayMs);
    const dying = Promise.withResolvers<void>();
    const deadly: SessionStore = {
      ...store,
      log: {
        ...store.log,
        remove() {
          dying.resolve();
          return Promise.reject(new Error("The process ends."));
        },
      },
    };
    const first = startWorker(deadly);
    await dying.promise;
    await first.close();
    expect((await store.log.read(ref("left"))).at(-1)).toMatchObject({ type: "session.closed", erase: true });
    startWorker();
    run(500);
    await until(async () => (await lastSeqOf(store, "left")) === 0, "the next worker completes it");
  });
});

/** Holds at most so many sessions and reads of an index, as a worker counts them. */
function counting(store: SessionStore): { readonly store: SessionStore; readonly read: () => number } {
  let read = 0;
  const list: SessionStore["index"]["list"] = async (...asked) => {
    const page = await store.index.list(...asked);
    read += page.length;
    return page;
  };
  return { store: { ...store, index: { ...store.index, list } }, read: () => read };
}

describe.each<[string, () => SessionStore | Promise<SessionStore>, boolean]>([
  ["memory", () => memoryStore(), false],
  ["SQLite", sqlite, false],
  ["Redis", overRedis, missing !== undefined],
])("the retention of a scope over a store of %s", (_, openStore, isSkipped) => {
  it.skipIf(isSkipped)("erases its sessions that long after their last fact, each once over two nodes", async () => {
    const store = await openStore();
    const clock = manualClock(Date.now());
    const seqOf = async (id: string): Promise<number> => (await store.log.head({ scope: "garden", session: id })).lastSeq;
    const closed = new Set<string>();
    const removed = new Set<string>();
    const noting: Observer = {
      facts(of, facts) {
        for (const fact of facts) if (fact.type === "session.closed" && fact.erase) closed.add(`${of.session} ${fact.seq}`);
      },
      removed: ({ session: id }) => void removed.add(id),
    };
    const session = (id: string, scope = "garden"): AgentSession =>
      createSession({ agent, id, store, clock, drives: false, access: { user: "anne", scope } });
    for (const id of ["old", "held", "used", "own"]) await session(id).change({ title: id });
    await session("own").change({ retention: { keepMs: 9 * dayMs } });
    await session("other", "kitchen").change({ title: "other" });
    await session("held").hold({ reason: "case 7" });
    let keepMs = 2 * dayMs;
    const start = (): void => {
      const worker = work({
        ...{ agents: [agent], store, clock, logger: silentLogger, observers: [noting] },
        retention: () => [{ scope: "garden", keepMs }],
      });
      onTestFinished(() => worker.close());
    };
    start();
    start();
    clock.advance(2 * dayMs - 60_000);
    await session("used").change({ title: "still in use" });
    const stop = runClock(clock, 500, everyFiftieth());
    await until(
      async () => (await seqOf("old")) === 0 && (await seqOf("own")) === 0,
      "the old ones are erased, also one with a longer time of its own",
    );
    for (const id of ["held", "used"]) expect(await seqOf(id)).toBeGreaterThan(1);
    expect((await store.log.head({ scope: "kitchen", session: "other" })).lastSeq).toBeGreaterThan(1);
    // A rule that becomes shorter holds for what exists; a hold that is lifted lets go. While the clock runs, a real store may seem silent to a caller.
    stop();
    keepMs = 1_000;
    await session("held").releaseHold();
    const stopAgain = runClock(clock, 500, everyFiftieth());
    await until(async () => (await seqOf("held")) === 0 && (await seqOf("used")) === 0, "the rest is erased");
    stopAgain();
    expect([...removed].sort()).toEqual(["held", "old", "own", "used"]);
    // A node that completes the erasure of another one observes its beginning again; none begins twice.
    expect([...closed].map((one) => one.split(" ", 1)[0]).sort()).toEqual(["held", "old", "own", "used"]);
  });
});

describe("the sweep for the retention of scopes", () => {
  it("reads a bounded number of sessions at a time, also behind many that are held, and comes to all", async () => {
    const counted = counting(memoryStore());
    const { clock, session } = scene(counted.store);
    for (let number = 0; number < 30; number++) {
      const id = `s${String(number).padStart(2, "0")}`;
      await session(id).change({ title: id });
      // The list has the newest first, so that the held ones come first.
      if (number >= 15) await session(id).hold();
      clock.advance(1_000);
    }
    const worker = work({
      ...{ agents: [agent], store: counted.store, clock, logger: silentLogger, limits: { sessionsPerSweep: 10, retentionSweepMs: 60_000 } },
      retention: () => [{ scope: "local", keepMs: dayMs }],
    });
    onTestFinished(() => worker.close());
    clock.advance(2 * dayMs);
    const stop = runClock(clock, 500, everyFiftieth());
    const left = async (): Promise<number> => (await counted.store.index.list("local", { limit: 100 })).length;
    await until(async () => counted.read() > 0, "a sweep has begun");
    expect(counted.read()).toBeLessThanOrEqual(10);
    await until(async () => (await lastSeqOf(counted.store, "s00")) === 0, "the oldest one is erased");
    stop();
    expect(await left()).toBe(15);
  });

  it("leaves a session alone whose run is under way, and reports a rule that cannot be used once", async () => {
    const store = memoryStore();
    const { clock } = scene(store);
    const lines: string[] = [];
    let keepMs = Number.NaN;
    let sweeps = 0;
    const reached = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const waits = defineTool({
      ...{ name: "waits", description: "Waits.", parameters: { type: "object" }, timeoutMs: 360_000_000 },
      async execute() {
        reached.resolve();
        await answered.promise;
        return "late";
      },
    });
    const calls = scripted([{ calls: [{ name: "waits", args: {} }] }, { text: "Late." }]);
    const busy = createAgent({ name: "busy", provider: calls, tools: [waits] });
    const host = createHost({
      runtime: createRuntime({ agents: [busy], store, clock, logger: { log: (...line) => void lines.push(JSON.stringify(line)) } }),
      retention() {
        sweeps++;
        return [{ scope: "local", keepMs }];
      },
    });
    onTestFinished(() => host.close());
    const { session, release } = await host.sessions.create({ user: "anne", scope: "local" }, { id: "long" });
    await session.submit("Question");
    await reached.promise;
    const stop = runClock(clock, 500, everyFiftieth());
    await until(() => lines.some((line) => line.includes("CONFIG_INVALID")), "the rule is reported");
    keepMs = 1_000;
    const before = sweeps;
    await until(() => sweeps > before + 2, "it was swept");
    expect(await lastSeqOf(store, "long")).toBeGreaterThan(1);
    answered.resolve();
    release();
    await until(async () => (await lastSeqOf(store, "long")) === 0, "it is erased after its run");
    stop();
    expect(lines.filter((line) => line.includes("The sweep for the retention"))).toHaveLength(1);
  });
});

describe("a hold", () => {
  it("on a child keeps the session above it beyond its retention, until it is lifted", async () => {
    const store = memoryStore();
    const { clock, session, startWorker } = scene(store);
    await session("top").change({ retention: { keepMs: dayMs } });
    const opened = { type: "session.opened", agent: "helper", parent: { session: "top", runId: "r", depth: 1 } } as const;
    await store.log.append(ref("below"), {
      ...{ expectedSeq: 0, batchId: "1", facts: [{ ...opened, at: clock.now(), v: 2 }] },
    });
    await session("below").hold();
    startWorker();
    clock.advance(dayMs);
    const run = runClock(clock, 500, everyFiftieth());
    const postponed = async (): Promise<boolean> => (await store.log.due({ now: clock.now() })).length === 0;
    await until(postponed, "the sweep has looked");
    expect([await lastSeqOf(store, "top"), await lastSeqOf(store, "below")]).toEqual([1 + 1, 2]);
    await session("below").releaseHold();
    clock.advance(600_000);
    await until(async () => (await lastSeqOf(store, "top")) === 0, "it is erased by a later sweep");
    expect(await lastSeqOf(store, "below")).toBe(0);
    run();
  });

  it("that is set while the retention passes wins, since the log decides", async () => {
    const store = memoryStore();
    const { clock, session } = scene(store);
    const expiring = session("a");
    await expiring.change({ retention: { keepMs: 1_000 } });
    await session("a").hold();
    clock.advance(5_000);
    expect(expiring.erasableAt).not.toBeNull();
    expect(await expiring.end({ erase: "expired" })).toBe(false);
    await expect(session("a").end({ erase: "always" })).rejects.toMatchObject({ code: "SESSION_HELD" });
    expect((await store.log.read(ref("a"))).map(({ type }) => type)).not.toContain("session.closed");
  });

  it("refuses DELETE and stops no run, until it is lifted", async () => {
    await using made = clientScene({ script: [{ hang: true }] });
    const { sessions } = made.client;
    await sessions.create({ id: "s1" });
    const changed = await sessions.change("s1", { retention: { keepMs: dayMs } });
    expect(changed.retention).toEqual({ keepMs: dayMs });
    expect((await sessions.hold("s1", { reason: "case 7" })).hold).toMatchObject({ reason: "case 7", by: "local" });
    await sessions.submit("s1", "Hi.");
    await expect(sessions.remove("s1")).rejects.toMatchObject({ code: "SESSION_HELD", details: { status: 409 } });
    expect((await sessions.get("s1")).status).toBe("running");
    expect((await sessions.releaseHold("s1")).hold).toBeUndefined();
    await sessions.remove("s1");
    await expect(sessions.get("s1")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });
});

it.each<[string, object]>([
  ["shorter than a second", { keepMs: 10 }],
  ["longer than a hundred years", { keepMs: 1e15 }],
  ["not whole", { keepMs: 1_000.5 }],
])("a retention that is %s is refused", async (_, retention) => {
  const { ask, refused, server } = testServer();
  onTestFinished(() => server.close());
  await ask("/api/sessions", { json: { id: "a" } });
  expect(await refused("/api/sessions/a", { method: "PATCH", json: { retention } })).toMatchObject({
    status: 400,
    detail: expect.stringContaining("retention.keepMs"),
  });
});
