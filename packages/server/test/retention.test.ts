import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentSession, createSession } from "@loopwright/core";
import { manualClock, memoryStore, silentLogger } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import type { Worker } from "@loopwright/host";
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
