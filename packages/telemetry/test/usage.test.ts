import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createAgent, createSession, defineTool, execute, type Fact } from "@loopwright/core";
import { fixedPrices, manualClock, memoryStore, scripted, seededRandom } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { findingsOf, memoryUsage, type UsageStore, type UsageSum, usageObserver, usageRoute } from "../src/index.ts";
import { telemetryFile } from "../src/sqlite/index.ts";
import { anne, telemetryServer } from "./telemetry-server.ts";

const prices = fixedPrices({ small: { inputUsd: 1, outputUsd: 3, cacheReadUsd: 0.1 } });
const stores: readonly (readonly [string, () => UsageStore, (clock: Clock) => UsageStore])[] = [
  ["memory", () => memoryUsage(), () => memoryUsage({ knownMax: 500 })],
  ["a SQLite file", () => telemetryFile({ path: ":memory:" }).usage, (clock) => telemetryFile({ path: ":memory:", clock }).usage],
];
const spentByOthers = {
  ...{ scope: "others", user: "ben", agent: "helper", provider: "p", model: "small" },
  ...{ input: 1, cacheRead: 0, cacheWrite: 0, output: 1 },
};

/** What was spent in a session by its log, without what its children spent. */
function spentIn(facts: readonly Fact[]) {
  const spent = facts.flatMap((fact) => {
    const others = "expenses" in fact ? (fact.expenses ?? []) : [];
    const own = "usage" in fact && fact.type !== "child.finished" ? [{ usage: fact.usage, cost: fact.cost }] : [];
    return [...own, ...others].filter(({ usage }) => usage);
  });
  const sum = (pick: (one: (typeof spent)[number]) => number | undefined): number =>
    spent.reduce((total, one) => total + (pick(one) ?? 0), 0);
  return {
    calls: spent.length,
    input: sum(({ usage }) => usage?.input),
    cacheRead: sum(({ usage }) => usage?.cacheRead),
    output: sum(({ usage }) => usage?.output),
    costUsd: sum(({ cost }) => cost?.totalUsd),
  };
}

describe.each(stores)("usage in %s", (_, open, openAt) => {
  it("equals the sum over the logs of all sessions, of runs with tools, children, failures and takeovers", async () => {
    const random = seededRandom(7);
    const draw = (most: number): number => Math.floor(random() * most);
    const usage = open();
    const store = memoryStore();
    const spend = () => ({ input: draw(1_000), cacheRead: draw(500), output: draw(300) });
    const child = createAgent({ name: "child", prices, provider: scripted(() => ({ text: "Done.", usage: spend() }), { model: "small" }) });
    const work = defineTool({
      name: "work",
      description: "Works.",
      parameters: { type: "object" },
      async execute(__, context) {
        if (draw(2) === 0) context.addUsage({ ...spend(), provider: "other", model: "small" });
        return draw(2) === 0 ? (await context.child("one", child, "Do it.")).text : "Done.";
      },
    });
    const provider = scripted(
      (request) => {
        if (draw(6) === 0) return { text: "Half an ", usage: spend(), error: "MODEL_REFUSED" as const };
        return request.messages.length < 4 && draw(2) === 0
          ? { calls: [{ name: "work" }], usage: spend() }
          : { text: "Done.", usage: spend() };
      },
      { model: "small" },
    );
    const agent = createAgent({ name: "helper", provider, prices, tools: [work] });
    const users = ["anne", "ben", "cleo"];
    for (let run = 0; run < 40; run++) {
      const observers = [usageObserver({ usage })];
      const access = { scope: `team${run % 2}`, user: users[run % 3] ?? "anne" };
      // Every handle is a process of its own: it claims anew, and is given the facts before its claim again.
      const session = createSession({ agent, id: `s${run % 8}`, store, observers, access });
      await execute(session, "Go on.").result();
      await session[Symbol.asyncDispose]();
    }
    const facts: Fact[] = [];
    const read = async (scope: string, session: string): Promise<void> => {
      const own = await store.log.read({ scope, session });
      facts.push(...own);
      for (const fact of own) if (fact.type === "child.linked") await read(scope, fact.session);
    };
    for (let i = 0; i < 8; i++) await read(`team${i % 2}`, `s${i}`);
    const expected = spentIn(facts);
    const [all] = await usage.query();
    expect(all).toMatchObject({ ...expected, costUsd: expect.closeTo(expected.costUsd, 7) });
    const byUser = await usage.query({ by: ["scope", "user", "model"] });
    expect(byUser.reduce((total, { input }) => total + input, 0)).toBe(expected.input);
    expect(new Set(byUser.map(({ user }) => user))).toEqual(new Set(users));
  });

  it("counts what a claim repeats once, however long the session was silent", async () => {
    const clock = manualClock(Date.parse("2026-11-01"));
    const usage = openAt(clock);
    const store = memoryStore({ clock });
    const provider = scripted(() => ({ text: "Done.", usage: { input: 10, output: 1 } }));
    const agent = createAgent({ name: "helper", provider, prices });
    const run = async (id: string): Promise<void> => {
      const session = createSession({ agent, id, store, clock, observers: [usageObserver({ usage })] });
      await execute(session, "Go on.").result();
      await session[Symbol.asyncDispose]();
    };
    await run("s1");
    clock.advance(8 * 86_400_000);
    // Enough for a look at what is too old, and for what is remembered at most.
    for (let i = 0; i < 1_100; i++) usage.add([{ ...spentByOthers, id: `other/${i}`, at: clock.now() - 2_000 + i }]);
    await usage.query();
    await run("s1");
    expect(await usage.query({ scope: "local" })).toMatchObject([{ calls: 2, input: 20 }]);
    expect(await usage.query({ scope: "others" })).toMatchObject([{ calls: 1_100 }]);
  });

  it("counts an entry that comes again once, by day, model and user, and knows which calls have no price", async () => {
    const usage = open();
    const entry = {
      id: "a",
      at: Date.parse("2026-11-24T23:59:59Z"),
      scope: "team",
      user: "anne",
      agent: "helper",
      provider: "p",
      model: "small",
    };
    const counts = { input: 10, cacheRead: 5, cacheWrite: 1, output: 2 };
    usage.add([{ ...entry, ...counts, costNanos: 100_000_000 }]);
    usage.add([
      { ...entry, ...counts, costNanos: 100_000_000 },
      { ...entry, ...counts, id: "b", at: entry.at + 1_000, model: "large" },
    ]);
    usage.add([{ ...entry, ...counts, id: "c", user: "ben", scope: "other", costNanos: 200_000_000 }]);
    expect(await usage.query({ by: ["day", "model"] })).toEqual([
      { day: "2026-11-24", model: "small", calls: 2, input: 20, cacheRead: 10, cacheWrite: 2, output: 4, costUsd: 0.3, unpricedCalls: 0 },
      { day: "2026-11-25", model: "large", calls: 1, input: 10, cacheRead: 5, cacheWrite: 1, output: 2, costUsd: 0, unpricedCalls: 1 },
    ]);
    expect(await usage.query({ scope: "team", from: "2026-11-25" })).toMatchObject([{ calls: 1 }]);
    expect(await usage.query({ user: "unknown-user" })).toEqual([]);
  });
});

describe("/api/usage", () => {
  const usage = memoryUsage();
  const entry = (id: string, scope: string, user: string) => ({
    ...{ id, at: Date.parse("2026-11-24"), scope, user, agent: "helper", provider: "p", model: "small" },
    ...{ input: 1, cacheRead: 0, cacheWrite: 0, output: 1, costNanos: 5e8 },
  });
  usage.add([entry("a", "team", "anne"), entry("b", "team", "ben"), entry("c", "other", "cleo")]);
  const sums = async (query: string, principal = anne, reach?: "scope"): Promise<readonly UsageSum[]> => {
    const route = usageRoute({ usage, ...(reach ? { reachOf: () => reach } : {}) });
    const { body } = await telemetryServer({ routes: [route], principal }).ask(`/api/usage?${query}`);
    return (body as { readonly sums: readonly UsageSum[] }).sums;
  };

  it("shows an operator all, a caller its own scope or itself, and a foreign scope or user as if it had spent nothing", async () => {
    const operator = () => ({ user: "olga", scope: "ops", trusted: true });
    expect((await sums("by=scope,user", operator)).map(({ user }) => user)).toEqual(["cleo", "anne", "ben"]);
    expect((await sums("by=user", anne, "scope")).map(({ user }) => user)).toEqual(["anne", "ben"]);
    expect((await sums("by=user")).map(({ user }) => user)).toEqual(["anne"]);
    for (const query of ["user=ben", "scope=other", "scope=other&user=anne"]) expect(await sums(query)).toEqual([]);
  });

  it("refuses a query that it cannot read, with what to do", async () => {
    for (const query of ["by=colour", "from=yesterday", "to=2026-13-01"]) {
      const { status, body } = await telemetryServer({ routes: [usageRoute({ usage })] }).ask(`/api/usage?${query}`);
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: "INPUT_INVALID", fix: expect.stringMatching(/day|2026/) });
    }
  });
});

it("sums of usage survive a restart, and two processes on the file count together", async () => {
  const folder = await mkdtemp(join(tmpdir(), "loopwright-usage-"));
  const path = `${folder}/deep/telemetry.db`;
  const entry = {
    at: Date.now(),
    scope: "team",
    user: "anne",
    agent: "a",
    provider: "p",
    model: "m",
    input: 1,
    cacheRead: 0,
    cacheWrite: 0,
    output: 1,
  };
  const clock = manualClock();
  const [one, other] = [telemetryFile({ path, clock }), telemetryFile({ path, clock })];
  one.usage.add([{ ...entry, id: "a" }]);
  other.usage.add([
    { ...entry, id: "a" },
    { ...entry, id: "b" },
  ]);
  await one.usage.query();
  expect(await other.usage.query()).toMatchObject([{ calls: 2 }]);
  one.usage.add([{ ...entry, id: "c" }]);
  one.close();
  other.close();
  const again = telemetryFile({ path, clock });
  expect(await again.usage.query()).toMatchObject([{ calls: 3 }]);
  again.close();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(() => telemetryFile({ path: `${path}/below.db` })).toThrowError(expect.objectContaining({ code: "STORE_UNAVAILABLE" }));
  await rm(folder, { recursive: true });
});

it("a file of the version before is read on: its sums, and its findings by session", async () => {
  const folder = await mkdtemp(join(tmpdir(), "loopwright-usage-"));
  const path = join(folder, "telemetry.db");
  const database = new DatabaseSync(path);
  database.exec(`
CREATE TABLE event (stream TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL, scope TEXT NOT NULL, data TEXT NOT NULL, UNIQUE (stream, key)) STRICT;
CREATE TABLE known_entry (id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE usage (
  day TEXT NOT NULL, scope TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
  calls INTEGER NOT NULL, input INTEGER NOT NULL, cacheRead INTEGER NOT NULL, cacheWrite INTEGER NOT NULL, output INTEGER NOT NULL,
  nanos INTEGER NOT NULL, unpricedCalls INTEGER NOT NULL, PRIMARY KEY (day, scope, user, agent, provider, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE ledger_sum (name TEXT PRIMARY KEY, tokens INTEGER NOT NULL, nanos INTEGER NOT NULL, endsAt INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE reservation (id TEXT PRIMARY KEY, tokens INTEGER NOT NULL, nanos INTEGER NOT NULL, sums TEXT NOT NULL, isOpen INTEGER NOT NULL, expiresAt INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO event VALUES ('_platform.ai.cache', 'k', ${Date.now()}, 'team', '{"session":"s1","verdict":"first"}');
INSERT INTO known_entry VALUES ('team/s1/9.0', ${Date.now() - 1_000});
INSERT INTO usage VALUES ('2026-11-24', 'team', 'anne', 'helper', 'p', 'small', 1, 10, 0, 0, 1, 0, 1);
PRAGMA user_version = 1;`);
  database.close();
  const file = telemetryFile({ path });
  file.usage.add([{ ...spentByOthers, id: "team/s1/2.0", at: Date.now() - 86_400_000 }]);
  expect(await file.usage.query()).toMatchObject([{ calls: 1, input: 10 }]);
  expect(await findingsOf(file.events, { scope: "team", session: "s1" })).toEqual({ findings: [{ session: "s1", verdict: "first" }] });
  file.close();
  await rm(folder, { recursive: true });
});
