import type { FactDraft } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { storeKeys } from "../src/keys.ts";
import { missing, redisFixture } from "./redis-fixture.ts";

const fixture = redisFixture();
const odd = [
  "a:b",
  "a}{b",
  "{a}",
  "*",
  "?",
  "[a-z]",
  "a b",
  "a.b",
  "a/b",
  "..",
  "\r\nFLUSHALL\r\n",
  "a\u0000",
  "A",
  "",
  "é",
  "a".repeat(65),
  "a".repeat(10_240),
];
/** Pairs that a key without a boundary between its parts would mistake for one another. */
const pairs: readonly SessionRef[] = [
  { scope: "a", session: "b-c" },
  { scope: "a-b", session: "c" },
  { scope: "a", session: "b" },
  { scope: "ab", session: "c" },
  { scope: "a", session: "bc" },
  { scope: "b", session: "a" },
  { scope: "a_b", session: "meta" },
  { scope: "a", session: "b_meta" },
];
const batch = (title: string) => ({
  expectedSeq: 0,
  batchId: "first",
  facts: [
    { type: "session.opened", agent: "helper", title, at: 1, v: 1 },
    { type: "input.accepted", message: { role: "user", content: [{ type: "text", text: `apples of ${title}` }] }, at: 2, v: 1 },
  ] as unknown as readonly FactDraft[],
});

describe("T05: names of scopes and sessions in the keys of a store", () => {
  it("lead to keys of its own for each pair, and none is another one's", () => {
    const keys = storeKeys("test");
    const all = pairs.flatMap((ref) => Object.values(keys.session(ref)));
    expect(new Set(all).size).toBe(all.length);
    const indexes = [...new Set(pairs.map(({ scope }) => scope))].flatMap((scope) => [keys.index(scope), keys.blobs(scope)]);
    expect(new Set(indexes).size).toBe(indexes.length);
  });
});

describe.skipIf(missing !== undefined)("T05: odd names at a real Redis", () => {
  it("are refused before any command is sent, by every method that takes one", async () => {
    const store = fixture.open();
    await store.log.append({ scope: "a", session: "b" }, batch("kept"));
    for (const name of odd)
      for (const ref of [
        { scope: name, session: "b" },
        { scope: "a", session: name },
      ]) {
        const asked = [
          () => store.log.append(ref, batch("odd")),
          () => store.log.read(ref),
          () => store.log.head(ref),
          () => store.log.remove(ref),
          () => store.log.claim(ref, { node: "n", leaseMs: 1_000 }),
          ...(ref.scope === name
            ? [() => store.index.list(name), () => store.index.search(name, "apples"), () => store.blobs.list(name)]
            : []),
        ];
        for (const ask of asked) await expect((async () => ask())(), name).rejects.toMatchObject({ code: "INPUT_INVALID" });
      }
    expect(await store.log.read({ scope: "a", session: "b" })).toHaveLength(2);
  });

  it("that differ by where the scope ends keep a log, a list and a search of their own, and no command takes a pattern", async () => {
    await fixture.redis.command("CONFIG", "RESETSTAT");
    const store = fixture.open();
    for (const { scope, session } of pairs) await store.log.append({ scope, session }, batch(`${scope}+${session}`));
    for (const ref of pairs) {
      const [opened] = await store.log.read(ref);
      expect(opened).toMatchObject({ title: `${ref.scope}+${ref.session}` });
    }
    for (const scope of new Set(pairs.map((ref) => ref.scope))) {
      const own = pairs.filter((ref) => ref.scope === scope).map(({ session }) => session);
      expect((await store.index.list(scope)).map(({ id }) => id).sort()).toEqual([...own].sort());
      expect((await store.index.search(scope, "apples")).map(({ session }) => session.id).sort()).toEqual([...own].sort());
    }
    await store.log.remove({ scope: "a", session: "b" });
    expect(await store.log.read({ scope: "a", session: "b-c" })).toHaveLength(2);
    const stats = String(await fixture.redis.command("INFO", "commandstats"));
    expect(stats).toContain("cmdstat_");
    expect([...stats.matchAll(/cmdstat_(keys|scan|psubscribe|flushall|flushdb)\b/g)].map(([, name]) => name)).toEqual([]);
  });
});
