import { createAgent, createSession, defineTool, execute, type Fact } from "@loopwright/core";
import { manualClock, memoryStore, scripted } from "@loopwright/core/memory";
import type { SessionLog, SessionStore } from "@loopwright/core/ports";
import { redisMissing, startRedis } from "@loopwright/simulator/node";
import { redisStore } from "@loopwright/store-redis";
import { sqliteStore } from "@loopwright/store-sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { segmentRef } from "../src/audit/audit-segments.ts";
import { auditedAuthorize, auditLog, auditObserver, auditScope } from "../src/audit/index.ts";

const missing = redisMissing();
let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
beforeAll(async () => {
  if (!missing) redis = await startRedis();
});
afterAll(() => redis?.stop());

const sqlite = (): SessionStore => sqliteStore(":memory:");
const stores: readonly (readonly [string, () => readonly [SessionStore, SessionStore]])[] = [
  ["memory", () => twice(memoryStore())],
  ["SQLite", () => twice(sqlite())],
  ...(missing
    ? []
    : ([
        [
          "Redis",
          () =>
            [redisStore({ url: redis?.url ?? "", deadlineMs: 20_000 }), redisStore({ url: redis?.url ?? "", deadlineMs: 20_000 })] as const,
        ],
      ] as const)),
];
const twice = (store: SessionStore): readonly [SessionStore, SessionStore] => [store, store];

/** The same log, whose facts a hand has changed. */
const tampered = (log: SessionLog, change: (facts: readonly Fact[]) => readonly Fact[]): SessionLog => ({
  ...log,
  append: (ref, request) => log.append(ref, request),
  head: (ref) => log.head(ref),
  async read(ref, { from = 1, limit = 1e9 } = {}) {
    const all = change(await log.read(ref));
    return all.slice(from - 1, from - 1 + limit);
  },
});

describe.each(stores)("the audit log in %s", (_, open) => {
  it("is one chain over two nodes that write at once, in each scope, and is intact", async () => {
    const [one, other] = open();
    const nodes = [auditLog({ log: one.log }), auditLog({ log: other.log })];
    const writes = Array.from({ length: 30 }, (__, i) =>
      nodes[i % 2]?.record(i % 3 === 0 ? "garden" : "kitchen", { user: "anne", action: "test.done", detail: { n: String(i) } }),
    );
    await Promise.all(writes);
    const entries = (await nodes[0]?.list("kitchen")) ?? [];
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (__, i) => i + 1));
    expect(await nodes[1]?.verify("kitchen")).toEqual({ intact: true, entries: 20, head: `20:${entries.at(-1)?.hash}` });
    expect(await nodes[0]?.verify("garden")).toMatchObject({ intact: true, entries: 10 });
    await Promise.all([one.close(), one === other ? undefined : other.close()]);
  });

  it("is one chain over segments, of which the oldest are removed: its verdict names the first that is kept, and the store does not grow", async () => {
    const [one, other] = open();
    const bounds = { segmentEntries: 5, segmentsMax: 3 };
    const nodes = [auditLog({ log: one.log, ...bounds }), auditLog({ log: other.log, ...bounds })];
    for (let i = 0; i < 40; i++) await nodes[i % 2]?.record("kitchen", { user: "anne", action: "test.done", id: `n${i}` });
    for (const node of nodes) await node.settled();
    const verdict = await nodes[0]?.verify("kitchen");
    expect(verdict).toMatchObject({ intact: true, from: expect.any(Number) });
    const entries = (await nodes[1]?.list("kitchen")) ?? [];
    expect(entries.length).toBeLessThanOrEqual(15);
    expect(verdict).toMatchObject({
      entries: entries.length,
      from: entries[0]?.seq,
      head: `${entries.at(-1)?.seq}:${entries.at(-1)?.hash}`,
    });
    expect(await one.log.read(segmentRef("kitchen", 1))).toEqual([]);
    // A process that starts continues the chain, and knows the ids of the segment before.
    const third = auditLog({ log: one.log, ...bounds });
    expect(await third.record("kitchen", { user: "anne", action: "test.done", id: "n38" })).toMatchObject({
      id: "n38",
      seq: expect.any(Number),
    });
    expect(await third.list("kitchen")).toHaveLength(entries.length);
    await Promise.all([one.close(), one === other ? undefined : other.close()]);
  });
});

describe("a chain", () => {
  async function chainOf(count: number) {
    const store = memoryStore();
    const audit = auditLog({ log: store.log, clock: manualClock() });
    for (let i = 1; i <= count; i++) await audit.record("team", { user: "anne", action: `step.${i}`, verdict: "permitted" });
    const verdict = (change: (facts: readonly Fact[]) => readonly Fact[], head?: string) =>
      auditLog({ log: tampered(store.log, change) }).verify("team", head === undefined ? {} : { head });
    return { audit, verdict };
  }
  const edit = (facts: readonly Fact[], seq: number, change: object): readonly Fact[] =>
    facts.map((fact) =>
      fact.seq === seq && fact.type === "note.recorded" ? { ...fact, data: { ...(fact.data as object), ...change } } : fact,
    ) as readonly Fact[];
  const renumbered = (facts: readonly Fact[]): readonly Fact[] => facts.map((fact, at) => ({ ...fact, seq: at + 1 }));

  it("that was changed, shortened, mixed up or added to names the first entry that is wrong", async () => {
    const { audit, verdict } = await chainOf(6);
    expect(await verdict((facts) => facts)).toMatchObject({ intact: true, entries: 6 });
    expect(await verdict((facts) => edit(facts, 3, { user: "ben" }))).toEqual({ intact: false, seq: 3, reason: "it was changed" });
    expect(await verdict((facts) => edit(facts, 4, { verdict: "refused" }))).toMatchObject({ intact: false, seq: 4 });
    expect(await verdict((facts) => renumbered(facts.toSpliced(1, 1)))).toMatchObject({
      intact: false,
      seq: 2,
      reason: expect.stringContaining("removed"),
    });
    expect(await verdict((facts) => renumbered(facts.toSpliced(3, 2, facts[4] as Fact, facts[3] as Fact)))).toMatchObject({
      intact: false,
      seq: 4,
    });
    const [last] = await audit.list("team", { from: 6 });
    expect(await verdict((facts) => facts.slice(0, 4))).toMatchObject({ intact: true, entries: 4 });
    expect(await verdict((facts) => facts.slice(0, 4), `6:${last?.hash}`)).toMatchObject({
      intact: false,
      seq: 5,
      reason: expect.stringContaining("missing"),
    });
    expect(await verdict((facts) => facts, `6:${"0".repeat(64)}`)).toMatchObject({ intact: false, seq: 6 });
  });

  it("of segments: one that is missing at the start without a report, or in the middle, or cut short, is found; a head that was noted before the removal still fits", async () => {
    const { log } = memoryStore();
    const clock = manualClock();
    const audit = auditLog({ log, clock, segmentEntries: 5, keepMs: 3_600_000 });
    const record = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) await audit.record("team", { user: "anne", action: "test.done" });
      await audit.settled();
    };
    await record(8);
    const early = await audit.verify("team");
    clock.advance(7_200_000);
    await record(8);
    const head = early.intact ? early.head : "";
    const [first] = await audit.list("team", { limit: 1 });
    expect(first?.seq).toBe(11);
    expect(await audit.verify("team", { head })).toMatchObject({ intact: true, from: 11 });
    const without = (segment: number, keep = 0) => ({
      ...log,
      head: (ref: Parameters<SessionLog["head"]>[0]) => log.head(ref),
      read: async (ref: Parameters<SessionLog["read"]>[0], page?: { from?: number; limit?: number }) => {
        const facts = await log.read(ref, page);
        return ref.session === segmentRef("team", segment).session ? facts.filter(({ seq }) => seq <= keep) : facts;
      },
    });
    const verdict = (changed: object) => auditLog({ log: { ...log, ...changed } as SessionLog }).verify("team");
    expect(await verdict({ ...without(3) })).toMatchObject({ intact: false, seq: 1, reason: expect.stringContaining("no entry reports") });
    expect(await verdict({ ...without(3, 3) })).toMatchObject({ intact: false, seq: 14 });
    expect(await verdict({ ...without(0) })).toMatchObject({ intact: true, entries: 0 });
    await log.remove(segmentRef("team", 3));
    expect(await audit.verify("team")).toMatchObject({ intact: false, seq: 1, reason: expect.stringContaining("no entry reports") });
  });

  it("of a scope whose end this process has forgotten is continued where it ends", async () => {
    const audit = auditLog({ log: memoryStore().log, scopesMax: 2 });
    for (let i = 0; i < 12; i++) await audit.record(`team${i % 4}`, { user: "anne", action: "test.done" });
    for (let i = 0; i < 4; i++) expect(await audit.verify(`team${i}`)).toMatchObject({ intact: true, entries: 3 });
  });

  it("of which no head was noted, or one that cannot be read, or of a scope that is none, is refused with what to do", async () => {
    const { audit } = await chainOf(1);
    await expect(audit.verify("team", { head: "6" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(audit.verify("Team!")).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(audit.record("../x", { user: "a", action: "b" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

it("approvals, stops, holds, schedules and erasures are in the audit log with their user, once, without a word of the conversation; it outlives the session", async () => {
  const store = memoryStore();
  const audit = auditLog({ log: store.log });
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    parameters: { type: "object" },
    execute: () => "SECRET-RESULT",
    approval: true,
  } as never);
  const provider = scripted([{ calls: [{ name: "pay", args: { to: "SECRET-PERSON" } }] }, { text: "SECRET-ANSWER" }]);
  const agent = createAgent({ name: "helper", provider, tools: [pay] });
  const options = { agent, id: "s1", store, observers: [auditObserver(audit)], access: { scope: "team", user: "anne" } };
  const session = createSession(options);
  await execute(session, "SECRET-QUESTION").result();
  const [pending] = session.pendingApprovals;
  await (await session.decide(pending?.callKey ?? "", { decision: "allow", access: { scope: "team", user: "ben" } })).stream().result();
  await session.hold({ reason: "SECRET-REASON", by: "olga" });
  await session.releaseHold({ by: "olga" });
  await session[Symbol.asyncDispose]();
  const again = createSession(options);
  await again.ready();
  await again.end({ erase: "always" });
  await audit.settled();
  await store.log.remove({ scope: "team", session: "s1" });
  const entries = await audit.list("team");
  expect(entries.map(({ user, action, verdict, session: id }) => [user, action, verdict, id])).toEqual([
    ["anne", "session.opened", undefined, "s1"],
    ["system", "approval.requested", undefined, "s1"],
    ["ben", "approval.decided", "allow", "s1"],
    ["olga", "hold.changed", "held", "s1"],
    ["olga", "hold.changed", "lifted", "s1"],
    ["system", "session.closed", "erase", "s1"],
  ]);
  expect(JSON.stringify(await store.log.read(segmentRef("team", 1)))).not.toContain("SECRET");
  expect(await audit.verify("team")).toMatchObject({ intact: true, entries: 6 });
});

it("what a rule refuses is recorded, and what it permits where that removes or decides; the rule's verdict stays", async () => {
  const audit = auditLog({ log: memoryStore().log });
  const rule = auditedAuthorize<{ user: string; scope: string }, string>(audit, ({ user }) => user === "anne");
  expect(await rule({ user: "ben", scope: "team" }, "session.read", "s1")).toBe(false);
  expect(await rule({ user: "anne", scope: "team" }, "session.read", "s1")).toBe(true);
  expect(await rule({ user: "anne", scope: "team" }, "session.remove", "s1")).toBe(true);
  expect(await rule({ user: "anne", scope: auditScope }, "session.remove", "team")).toBe(false);
  await audit.settled();
  expect((await audit.list("team")).map(({ user, action, verdict }) => [user, action, verdict])).toEqual([
    ["ben", "session.read", "refused"],
    ["anne", "session.remove", "permitted"],
  ]);
});
