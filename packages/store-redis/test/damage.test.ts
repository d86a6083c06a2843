import { describe, expect, it } from "vitest";
import { type RawEntry, rewriteFacts, sealedAnew } from "./damage-fact.ts";
import { missing, redisFixture } from "./redis-fixture.ts";
import { batch, fill, other, ref } from "./samples.ts";

const fixture = redisFixture();

const body = (entry: RawEntry | undefined): string => entry?.message["b"] ?? "";
const withBody = (entry: RawEntry, b: string): RawEntry => ({ ...entry, message: { ...entry.message, b } });

describe.skipIf(missing !== undefined)("a damaged log", () => {
  const damages: readonly (readonly [string, (entries: readonly RawEntry[]) => readonly RawEntry[]])[] = [
    [
      "one letter of a fact was changed",
      (all) => all.map((one, at) => (at === 1 ? withBody(one, body(one).replace("first 1", "first 7")) : one)),
    ],
    [
      "one letter of a fact was changed and its sum renewed",
      (all) => all.map((one, at) => (at === 1 ? sealedAnew(ref, one, body(one).replace("first 1", "first 7")) : one)),
    ],
    ["a fact is missing in the middle", (all) => all.filter((_, at) => at !== 1)],
    ["the last fact is missing", (all) => all.slice(0, -1)],
    ["the first fact is missing", (all) => all.slice(1)],
    [
      "two facts changed places",
      ([a, b, ...rest]) => (a && b ? [{ ...a, message: b.message }, { ...b, message: a.message }, ...rest] : []),
    ],
    ["a fact stands twice", ([a, b, ...rest]) => (a && b ? [a, { ...b, message: a.message }, ...rest] : [])],
    ["a fact is no JSON", (all) => all.map((one, at) => (at === 2 ? withBody(one, body(one).slice(0, 20)) : one))],
    ["an entry has other fields", (all) => all.map((one, at) => (at === 1 ? { ...one, message: { x: "1" } } : one))],
  ];
  for (const [what, change] of damages)
    it(`is SESSION_CORRUPT when ${what}, takes no more facts from anybody, and harms no other`, async () => {
      const prefix = fixture.prefix();
      const store = fixture.open({ prefix });
      await fill(store.log, 3);
      await fill(store.log, 3, other);
      await rewriteFacts(fixture.redis, { prefix, ref }, change);
      const reader = fixture.open({ prefix });
      await expect(reader.log.read(ref)).rejects.toMatchObject({ code: "SESSION_CORRUPT", message: expect.stringContaining("`first`") });
      await expect(store.log.append(ref, batch(3))).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
      expect(await reader.log.read(other)).toHaveLength(3);
      expect((await reader.index.list("local")).map(({ id }) => id).sort()).toEqual(["first", "second"]);
      expect(await reader.check()).toMatchObject({ sessionCount: 2, damaged: ["local/first"] });
    });

  it("of another session under the same keys is noticed: the sums are of one session alone", async () => {
    const prefix = fixture.prefix();
    const store = fixture.open({ prefix });
    await store.log.append(ref, batch(0, "same"));
    await store.log.append(other, batch(0, "same"));
    let foreign: readonly RawEntry[] = [];
    await rewriteFacts(fixture.redis, { prefix, ref: other }, (entries) => {
      foreign = entries;
      return entries;
    });
    await rewriteFacts(fixture.redis, { prefix, ref }, () => foreign);
    await expect(store.log.read(ref)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  });

  it("may be written again once it is whole and was checked", async () => {
    const prefix = fixture.prefix();
    const store = fixture.open({ prefix });
    await fill(store.log, 3);
    let whole: readonly RawEntry[] = [];
    await rewriteFacts(fixture.redis, { prefix, ref }, (entries) => {
      whole = entries;
      return entries.slice(0, 2);
    });
    await expect(store.log.read(ref)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
    await rewriteFacts(fixture.redis, { prefix, ref }, () => whole);
    expect(await store.check()).toEqual({ where: `127.0.0.1:${fixture.redis.port}`, sessionCount: 1, factCount: 3, damaged: [] });
    expect((await store.log.append(ref, batch(3))).type).toBe("ok");
  });

  it("whose own account is gone, but not its facts, takes no second fact under one number", async () => {
    const prefix = fixture.prefix();
    await fill(fixture.open({ prefix }).log, 3);
    await fixture.redis.command("DEL", `${prefix}:{local.first}:meta`);
    const store = fixture.open({ prefix });
    await expect(store.log.append(ref, batch(0, "again"))).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  });
});

describe.skipIf(missing !== undefined)("the bodies of facts", () => {
  it("are kept as they were sent, at a large seq too", async () => {
    const store = fixture.open();
    const facts = Array.from({ length: 256 }, (_, at) => ({ type: "session.changed", title: `${at}`, at, v: 1 }) as const);
    for (let seq = 0; seq < 5_120; seq += 256) await store.log.append(ref, { expectedSeq: seq, batchId: `b${seq}`, facts });
    const read = await store.log.read(ref, { from: 5_000 });
    expect(read.map(({ seq }) => seq)).toEqual(Array.from({ length: 121 }, (_, at) => 5_000 + at));
    expect(await store.log.read(ref)).toHaveLength(5_120);
  });
});
