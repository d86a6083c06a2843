import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type SqliteStore, sqliteStore } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";
import { type StoreProcess, startStoreProcess } from "./store-process.ts";

const folder = freshFolder();
const ref = { scope: "local", session: "shared" };
let count = 0;
const freshPath = (): string => join(folder, `${count++}.db`);

function open(path: string): SqliteStore {
  const store = sqliteStore(path);
  onTestFinished(() => store.close());
  return store;
}

function start(...args: Parameters<typeof startStoreProcess>): StoreProcess {
  const started = startStoreProcess(...args);
  onTestFinished(() => started.kill());
  return started;
}

it("two processes that append to one session at once both get everything in, once and without a gap", async () => {
  const path = freshPath();
  const writers = [start("append", path, "one:40"), start("append", path, "two:40")];
  expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual([0, 0]);
  const facts = await open(path).log.read(ref);
  expect(facts.map(({ seq }) => seq)).toEqual(Array.from({ length: 160 }, (_, index) => index + 1));
  const titles = facts.flatMap((fact) => (fact.type === "session.changed" && fact.title?.includes(":") ? [fact.title] : []));
  for (const name of ["one:40", "two:40"])
    expect(titles.filter((title) => title.startsWith(name))).toEqual(Array.from({ length: 40 }, (_, index) => `${name} ${index}`));
});

it("of two processes that claim one session one gets it, and the other gets the holder's name", async () => {
  const path = freshPath();
  const claims = await Promise.all([start("claim", path, "one").next(), start("claim", path, "two").next()]);
  expect(claims).toContainEqual({ type: "claimed", epoch: 1, lastSeq: 0 });
  expect(claims).toContainEqual(expect.objectContaining({ type: "held", node: expect.stringMatching(/^(one|two)$/) }));
});

it("the lease of a process that was killed is over at once, long before its time", async () => {
  const path = freshPath();
  const owner = start("claim", path, "owner");
  expect(await owner.next()).toEqual({ type: "claimed", epoch: 1, lastSeq: 0 });
  const { log } = open(path);
  const claim = { node: "heir", leaseMs: 1_000 };
  expect(await log.claim(ref, claim)).toMatchObject({ type: "held", node: "owner" });
  await owner.kill();
  expect(await log.head(ref)).toEqual({ lastSeq: 0, epoch: 1 });
  expect(await log.claim(ref, claim)).toEqual({ type: "claimed", epoch: 2, lastSeq: 0 });
});

it("what was acknowledged before a writer was killed in the middle of its work is there, whole and nothing half", async () => {
  const path = freshPath();
  for (let round = 0; round < 3; round++) {
    const writer = start("append", path, `round${round}`);
    let acknowledged = 0;
    for (let line = 0; line < 20 + round * 7; line++) {
      const outcome = await writer.next();
      acknowledged = Number(typeof outcome === "object" && outcome !== null && "lastSeq" in outcome ? outcome.lastSeq : 0);
    }
    await writer.kill();
    const store = open(path);
    const facts = await store.log.read(ref);
    expect(facts.length).toBeGreaterThanOrEqual(acknowledged);
    expect(facts.length % 2).toBe(0);
    expect(await store.check()).toMatchObject({ problems: [], damaged: [], factCount: facts.length });
  }
});

it("of eight sessions that share transactions no acknowledged fact is lost or changed, over five processes that are killed", async () => {
  const path = freshPath();
  const acknowledged = new Map<string, readonly [string, number, unknown]>();
  for (let cycle = 0; cycle < 5; cycle++) {
    const writer = start("many", path, `cycle${cycle}`);
    for (let line = 0; line < 30 + cycle * 13; line++) {
      const { session, seq, title, outcome } = Object(await writer.next());
      expect(outcome).toBe("ok");
      acknowledged.set(`${session} ${seq}`, [session, seq, title]);
    }
    await writer.kill();
    const store = open(path);
    for (let index = 0; index < 8; index++) {
      const facts = await store.log.read({ scope: "local", session: `s${index}` });
      for (const [session, seq, title] of acknowledged.values())
        if (session === `s${index}`) expect(facts[seq - 1]).toMatchObject({ seq, title });
    }
    expect(await store.check()).toMatchObject({ problems: [], damaged: [] });
  }
  expect(acknowledged.size).toBeGreaterThan(250);
});

it("a process lists sessions while another writes them", async () => {
  const path = freshPath();
  const writer = start("append", path, "writer");
  await writer.next();
  const reader = start("list", path, "reader");
  expect(await reader.next()).toEqual(["shared"]);
  expect(await reader.ended).toBe(0);
});

it("a process that has used a store and does not close it ends by itself", async () => {
  const reader = start("list", freshPath(), "reader");
  expect(await reader.next()).toEqual([]);
  expect(await reader.ended).toBe(0);
});

it("a subscriber is notified of what another process appends", async () => {
  const path = freshPath();
  const notified = new Promise<number>((resolve) => {
    const stop = open(path).log.subscribe?.(ref, resolve);
    onTestFinished(() => stop?.());
  });
  await start("append", path, "other:1").ended;
  expect(await notified).toBe(2);
});

it("a subscriber that comes after another process has written is notified of it too", async () => {
  const path = freshPath();
  const { log } = open(path);
  const notified = (session: string): Promise<number> =>
    new Promise((resolve) => {
      const stop = log.subscribe?.({ scope: "local", session }, resolve);
      onTestFinished(() => stop?.());
    });
  const first = notified("first");
  const other = open(path);
  for (const session of ["second", "first"])
    await other.log.append({ scope: "local", session }, { expectedSeq: 0, batchId: "b", facts: [{ type: "session.closed", at: 1, v: 1 }] });
  expect(await first).toBe(1);
  expect(await notified("second")).toBe(1);
});
