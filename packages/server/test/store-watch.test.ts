import { AgentError, type ErrorCode, errorTable } from "@loopwright/core";
import { manualClock, memoryStore } from "@loopwright/core/memory";
import type { SessionLog, SessionStore } from "@loopwright/core/ports";
import { createHost } from "@loopwright/host";
import { createHealthServer } from "@loopwright/server";
import { expect, it } from "vitest";
import { turnOfLoop } from "../../host/test/turn-of-loop.ts";
import { problemResponse } from "../src/http/problem-response.ts";
import { withRuntime, work } from "./serve.ts";
import { scriptedAgent, testServer } from "./test-server.ts";

const secret = "10.0.0.7:6379";
const evicts = (): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `The Redis at ${secret} may throw away sessions.`,
    fix: "Set `maxmemory-policy noeviction`.",
  });

/** A store in memory that has the faults that the test sets. */
function flawedStore(): SessionStore & { flaw: AgentError | undefined } {
  const store = memoryStore();
  const flawed = {
    ...store,
    flaw: undefined as AgentError | undefined,
    async probe() {
      if (flawed.flaw) throw flawed.flaw;
    },
  };
  return flawed;
}

/** A store whose log reports it of the sessions that are named. */
function damagedStore(code: ErrorCode, ...damaged: readonly string[]): SessionStore {
  const store = memoryStore();
  const checked = <T>(session: string, answer: () => Promise<T>): Promise<T> =>
    damaged.includes(session) ? Promise.reject(new AgentError(code, { message: `The log of ${session} is bad.` })) : answer();
  const log: SessionLog = {
    ...store.log,
    read: (ref, options) => checked(ref.session, () => store.log.read(ref, options)),
    append: (ref, request) => checked(ref.session, () => store.log.append(ref, request)),
  };
  return { ...store, log };
}

const codes = Object.keys(errorTable) as ErrorCode[];

it.each(codes.filter((code) => errorTable[code].status === 503))("a 503 for %s names the wait before another try", (code) => {
  for (const retryAfterMs of [undefined, 0, 1, 2_500])
    expect(
      Number(problemResponse(new AgentError(code, { message: "No.", retryAfterMs })).headers.get("Retry-After")),
    ).toBeGreaterThanOrEqual(1);
});

it.each(["SESSION_CORRUPT", "HISTORY_LOST"] as const)(
  "%s raises one alarm for each session and counts once, however often it is met",
  async (code) => {
    const { ask, logged, send, server } = testServer({ store: damagedStore(code, "bad", "worse") });
    for (const session of ["bad", "bad", "worse", "bad"]) await ask(`/api/sessions/${session}`);
    await ask("/api/sessions/bad/messages", { json: { message: "Hi." } });
    const alarms = logged.filter(({ fields }) => (fields as { readonly code?: string } | undefined)?.code === code);
    expect(alarms.map(({ level, fields }) => [level, (fields as { readonly session: string }).session])).toEqual([
      ["error", "bad"],
      ["error", "worse"],
    ]);
    expect(await (await send("/metrics")).text()).toContain(`loopwright_damaged_sessions_total{code="${code}"} 2`);
    await server.close();
  },
);

it("a log that is shorter than it was is one alarm and counts once where the handle of the session finds it, not the store", async () => {
  const [whole, older] = [memoryStore(), memoryStore()];
  const before = testServer({ store: older });
  await before.ask("/api/sessions", { json: { id: "a" } });
  await before.server.close();
  let isOlder = false;
  const log = new Proxy(whole.log, { get: (_, name) => Reflect.get(isOlder ? older.log : whole.log, name) });
  const { ask, logged, refused, send, server } = testServer({ store: { ...whole, log } });
  await ask("/api/sessions", { json: { id: "a" } });
  await (await send("/api/agent/execute", { json: { sessionId: "a", input: "Hi." } })).text();
  isOlder = true;
  expect(await refused("/api/sessions/a/messages", { json: { message: "Hi again." } })).toMatchObject({ code: "SESSION_CORRUPT" });
  const alarms = logged.filter(({ level }) => level === "error");
  expect(alarms).toMatchObject([{ fields: { code: "SESSION_CORRUPT", scope: "local", session: "a" } }]);
  expect(await (await send("/metrics")).text()).toContain(`loopwright_damaged_sessions_total{code="SESSION_CORRUPT"} 1`);
  await server.close();
});

it("one damage that the store and the handle of the session both report is one alarm", async () => {
  const whole = memoryStore();
  let isDamaged = false;
  const damaged = (session: string) => new AgentError("SESSION_CORRUPT", { message: `The log of \`${session}\` is damaged.` });
  const log = new Proxy(whole.log, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function" || !["append", "read", "head"].includes(String(name))) return member;
      return (ref: { readonly session: string }, ...more: readonly unknown[]): unknown =>
        isDamaged ? Promise.reject(damaged(ref.session)) : Reflect.apply(member, target, [ref, ...more]);
    },
  });
  const { ask, logged, refused, send, server } = testServer({ store: { ...whole, log } });
  await ask("/api/sessions", { json: { id: "a" } });
  await (await send("/api/agent/execute", { json: { sessionId: "a", input: "Hi." } })).text();
  isDamaged = true;
  for (const input of ["one", "two"])
    expect(await refused("/api/sessions/a/messages", { json: { message: input } })).toMatchObject({ code: "SESSION_CORRUPT" });
  const alarms = logged.filter(({ level }) => level === "error");
  expect(alarms).toMatchObject([{ fields: { code: "SESSION_CORRUPT", scope: "local", session: "a" } }]);
  expect(await (await send("/metrics")).text()).toContain(`loopwright_damaged_sessions_total{code="SESSION_CORRUPT"} 1`);
  await server.close();
});

it("a store that may lose writes is noticed while the server runs, gets no writes, and is used again when it is repaired", async () => {
  const clock = manualClock();
  const store = flawedStore();
  const { ask, logged, refused, send, server } = testServer({ store, clock });
  expect((await ask("/readyz")).status).toBe(200);
  await ask("/api/sessions", { json: { id: "a" } });
  store.flaw = evicts();
  clock.advance(60_000);
  await turnOfLoop();
  const ready = await refused("/readyz");
  expect([ready.status, ready.code, ready.headers.get("Retry-After")]).toEqual([503, "NOT_READY", "2"]);
  for (const [path, json] of [
    ["/api/sessions/a/messages", { message: "Hi." }],
    ["/api/sessions", { id: "b" }],
  ] as const) {
    const answer = await refused(path, { json });
    expect([answer.status, answer.code, answer.retryable, answer.headers.get("Retry-After")], path).toEqual([
      503,
      "STORE_UNAVAILABLE",
      true,
      "2",
    ]);
    expect(JSON.stringify(answer)).not.toMatch(/10\.0\.0\.7|maxmemory/);
  }
  expect(await (await send("/metrics")).text()).toContain("loopwright_store_unfit 1");
  expect(logged.filter(({ message }) => message.includes(secret))).toMatchObject([{ level: "error", fields: { code: "CONFIG_INVALID" } }]);
  store.flaw = undefined;
  clock.advance(10_000);
  await turnOfLoop();
  expect((await ask("/readyz")).status).toBe(200);
  expect((await ask("/api/sessions/a/messages", { json: { message: "Hi." } })).status).toBe(202);
  await server.close();
});

it("a store that may lose writes gets no write of any port, and every read", async () => {
  const clock = manualClock();
  const store = flawedStore();
  const { blobs, snapshots, log } = store;
  const ref = { scope: "local", session: "a" };
  await blobs.put("local", "upload-1", { bytes: Uint8Array.of(1) });
  store.flaw = evicts();
  const host = createHost(withRuntime({ agents: [scriptedAgent()], store, clock, logger: { log() {} }, role: "server" }));
  await turnOfLoop();
  const { store: safe } = host;
  const writes: readonly (() => Promise<unknown>)[] = [
    () => safe.log.append(ref, { expectedSeq: 0, batchId: "b", facts: [{ type: "session.changed", title: "a", at: 1, v: 1 }] }),
    () => safe.log.claim(ref, { node: "one", leaseMs: 1_000 }),
    () => safe.blobs.put("local", "upload-2", { bytes: Uint8Array.of(2) }),
    () => safe.blobs.own("local", "upload-1", "a"),
    () => safe.snapshots.put(ref, "fold", { x: 1 }),
  ];
  for (const write of writes) await expect(write()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await host.close();
  expect([await blobs.list("local"), await snapshots.get(ref, "fold"), (await log.head(ref)).epoch]).toEqual([["upload-1"], undefined, 0]);
  await log.remove(ref);
  expect((await safe.blobs.get("local", "upload-1"))?.bytes).toEqual(Uint8Array.of(1));
});

it("a worker of such a store is not ready either, and claims nothing", async () => {
  const clock = manualClock();
  const store = flawedStore();
  const worker = work({ agents: [scriptedAgent()], store, clock, logger: { log() {} } });
  await turnOfLoop();
  store.flaw = evicts();
  clock.advance(60_000);
  await turnOfLoop();
  expect((await createHealthServer({ host: worker }).fetch(new Request("http://localhost/readyz"))).status).toBe(503);
  await worker.close();
  expect(clock.pending).toBe(0);
});

it.each(["CONFIG_INVALID", "STORE_TOO_NEW", "STORE_CORRUPT", "STORE_UNAVAILABLE", "STORE_READ_ONLY"] as const)(
  "%s of the store is an error of the server to its callers, without details; the log has them, once",
  async (code) => {
    const store = memoryStore();
    const fail = (): Promise<never> =>
      Promise.reject(new AgentError(code, { message: `The store at ${secret} is wrong.`, fix: `Mend ${secret}.` }));
    const log: SessionLog = { ...store.log, read: fail, head: fail, append: fail, claim: fail };
    const { logged, refused, server } = testServer({ store: { ...store, log, index: { ...store.index, list: fail } } });
    for (const [path, json] of [
      ["/api/sessions/a", undefined],
      ["/api/sessions", undefined],
      ["/api/sessions/a/messages", { message: "Hi." }],
    ] as const) {
      const answer = await refused(path, json ? { json } : {});
      expect(answer.status, path).toBeGreaterThanOrEqual(500);
      expect(JSON.stringify(answer)).not.toContain(secret);
      if (answer.status === 503) expect(answer.headers.get("Retry-After")).not.toBeNull();
      else expect([answer.retryable, answer.headers.get("Retry-After")]).toEqual([false, null]);
      expect(String(answer.fix).includes("Try again")).toBe(answer.retryable);
    }
    expect(logged.filter(({ message }) => message.includes(secret))).toHaveLength(1);
    await server.close();
  },
);
