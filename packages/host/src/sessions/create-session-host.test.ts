import { createAgent } from "@loopwright/core";
import { type ManualClock, manualClock, memoryChannel, memoryStore, randomIds, scripted, silentLogger } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import { failingStore } from "../../test/failing-store.ts";
import { runClock, turnOfLoop, until } from "../../test/turn-of-loop.ts";
import { defaultHostLimits } from "../options/host-limits.ts";
import { createSessionHost } from "./create-session-host.ts";
import type { HostedSession, SessionHost } from "./session-host.ts";

const principal = { user: "ann", scope: "team" };

interface HostScene {
  readonly host: SessionHost;
  readonly store: SessionStore;
  readonly clock: ManualClock;
}

function hostOf(sessionsLoaded: number, store: SessionStore = memoryStore()): HostScene {
  const clock = manualClock();
  const agent = createAgent({ name: "helper", provider: scripted([{ text: "Hello." }]) });
  const limits = { ...defaultHostLimits, sessionsLoaded };
  return {
    clock,
    store,
    host: createSessionHost({ agents: [agent], store, limits, channel: memoryChannel(), clock, ids: randomIds, logger: silentLogger }),
  };
}

async function make(host: SessionHost, id: string): Promise<HostedSession> {
  const hosted = await host.create(principal, { id });
  await hosted.session.open();
  return hosted;
}

it("lets go of the session that has rested longest when there are too many, never of one in use", async () => {
  const { host } = hostOf(2);
  const used = await make(host, "used");
  const first = await make(host, "first");
  const second = await make(host, "second");
  expect(host.loaded).toBe(3);
  second.release();
  expect(host.loaded).toBe(2);
  first.release();
  expect(host.loaded).toBe(2);
  const again = await host.open({ scope: "team", session: "used" });
  expect(again.session).toBe(used.session);
  await host.close();
});

it("evicts a session that was not used for a while, and keeps one that was requested again", async () => {
  const { host, clock } = hostOf(10);
  (await make(host, "left")).release();
  const asked = await make(host, "asked");
  asked.release();
  clock.advance(defaultHostLimits.sessionIdleMs / 2);
  (await host.open({ scope: "team", session: "asked" })).release();
  clock.advance(defaultHostLimits.sessionIdleMs / 2);
  expect(host.loaded).toBe(1);
  const kept = await host.open({ scope: "team", session: "asked" });
  expect(kept.session).toBe(asked.session);
  kept.release();
  clock.advance(2 * defaultHostLimits.sessionIdleMs);
  expect(host.loaded).toBe(0);
});

it("evicts an unused session also if its log is polled, which finds nothing new", async () => {
  const store = memoryStore();
  const { subscribe: _, ...log } = store.log;
  const { host, clock } = hostOf(10, { ...store, log });
  (await make(host, "left")).release();
  let looks = 0;
  host.onLoad(({ session }) => void session.follow({ events() {}, rested: () => void looks++ }));
  for (let passedMs = 0; passedMs < 2 * defaultHostLimits.sessionIdleMs; passedMs += 250) {
    clock.advance(250);
    await turnOfLoop();
  }
  expect(looks).toBeGreaterThan(20);
  expect(host.loaded).toBe(0);
});

it("keeps a session that runs here when it gets a report that another node runs it", async () => {
  const { host } = hostOf(10);
  const { session, ref, release } = await make(host, "here");
  await session.submit("Hi.");
  const unused = session.isOwner && !session.isResting;
  release();
  host.letGo(ref);
  expect([unused, host.loaded]).toEqual([true, 1]);
  await until(() => session.isResting, "the run ends");
  host.letGo(ref);
  expect(host.loaded).toBe(0);
  await host.close();
});

it("holds nothing of a session that was never begun, once its last user has left", async () => {
  const { host } = hostOf(10);
  const refused = await host.create(principal, { id: "refused" });
  await expect(refused.session.submit("Hi.", { parent: "99" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  refused.release();
  await turnOfLoop();
  expect(host.loaded).toBe(0);
  const begun = await host.create(principal, { id: "refused" });
  expect(begun.session).not.toBe(refused.session);
  await host.close();
});

it("holds nothing after its end: what is still being loaded is let go of", async () => {
  const { host, store } = hostOf(10);
  (await make(host, "slow")).release();
  await host.close();
  const gate = Promise.withResolvers<void>();
  const log = { ...store.log, read: (...args: Parameters<typeof store.log.read>) => gate.promise.then(() => store.log.read(...args)) };
  const { host: late } = hostOf(10, { ...store, log });
  const opening = late.open({ scope: "team", session: "slow" });
  const closing = late.close();
  gate.resolve();
  await closing;
  await expect(opening).rejects.toMatchObject({ code: "NOT_READY" });
  await expect(late.create(principal, {})).rejects.toMatchObject({ code: "NOT_READY" });
  expect(late.loaded).toBe(0);
});

it("keeps a session while its store is away, because its state is unknown, and evicts it when the store is back and the session rests", async () => {
  const store = failingStore(memoryStore());
  const { host, clock } = hostOf(10, store);
  const hosted = await make(host, "left");
  await hosted.session.submit("Hi.");
  await until(() => host.running === 0, "the run ends");
  store.state = "failing";
  await expect(hosted.session.submit("Again.")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  hosted.release();
  clock.advance(3 * defaultHostLimits.sessionIdleMs);
  await turnOfLoop();
  expect(host.loaded).toBe(1);
  store.state = "well";
  const stop = runClock(clock, 1_000);
  await until(() => host.loaded === 0, "the session is back, and evicted as idle");
  stop();
});

it("gives a session that exists to a caller that loads it while another caller tries to create it", async () => {
  const { host, store } = hostOf(10);
  await make(host, "there");
  const { host: second } = hostOf(10, store);
  const again = second.create(principal, { id: "there" });
  const opened = second.open({ scope: "team", session: "there" });
  await expect(again).rejects.toMatchObject({ code: "SESSION_EXISTS" });
  expect((await opened).session.lastSeq).toBeGreaterThan(0);
  expect(second.loaded).toBe(1);
  await Promise.all([host.close(), second.close()]);
});

it("reports every loaded session to a listener, also those that were loaded before, and keeps it while it is used", async () => {
  const { host, clock } = hostOf(10);
  (await make(host, "before")).release();
  const seen: string[] = [];
  const gone: string[] = [];
  const releases: (() => void)[] = [];
  host.onLoad(({ ref: { session }, use, onGone }) => {
    seen.push(session);
    releases.push(use());
    onGone(() => gone.push(session));
  });
  (await make(host, "after")).release();
  expect(seen).toEqual(["before", "after"]);
  clock.advance(2 * defaultHostLimits.sessionIdleMs);
  expect([host.loaded, gone]).toEqual([2, []]);
  releases[0]?.();
  releases[0]?.();
  clock.advance(2 * defaultHostLimits.sessionIdleMs);
  expect([host.loaded, gone]).toEqual([1, ["before"]]);
  await host.close();
  expect(gone).toEqual(["before", "after"]);
});

it("calls `lost` of all followers of a session whose log is gone before the listeners of `onGone`", async () => {
  const { host, store } = hostOf(10);
  const removed = await make(host, "removed");
  const received: string[] = [];
  host.onLoad(({ session, onGone }) => {
    session.follow({ events() {}, lost: ({ code }) => void received.push(code) });
    onGone(() => received.push("gone"));
  });
  await store.log.remove(removed.ref);
  await expect(removed.session.submit("Hi.")).rejects.toMatchObject({ code: "SESSION_CLOSED" });
  await turnOfLoop();
  expect(received).toEqual(["SESSION_CLOSED", "gone"]);
  await host.close();
});
