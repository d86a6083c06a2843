import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { sqliteStore } from "../src/index.ts";
import type { Answer, Call } from "../src/operation.ts";
import { StoreEngine } from "../src/store-engine.ts";
import { answer, boundedCalls, costAmong, engineWith, index, spoken } from "./counted-engine.ts";
import { refOf } from "./engine-scene.ts";
import { freshFolder } from "./fresh-folder.ts";

const folder = freshFolder();
let files = 0;

it.each(boundedCalls(20))("%s reads as many rows of 60 sessions as of 600, no more than stated, and walks no table", (_, call, rowsMax) => {
  const [few, many] = [60, 600].map((count) => costAmong(count)(call));
  expect(few?.rows).toBeGreaterThan(0);
  expect(many).toEqual({ rows: few?.rows, walks: [] });
  expect(many?.rows).toBeLessThanOrEqual(rowsMax);
});

/** Sessions of which each has two words of its own, one that begins with the other's first letter. */
function searchedFor(count: number, query: string) {
  const { engine, work } = engineWith(count);
  while (answer(engine, index) === true);
  const search: Call = { name: "search", ask: { scope: "local", query, limit: 10, textsMax: 20 } };
  answer(engine, search);
  work.rows = 0;
  work.asked.clear();
  const { hits, isPart } = answer(engine, search) as Answer<"search">;
  return { rows: work.rows, ids: hits.map(({ session: { id } }) => id), isPart, asked: [...work.asked] };
}

it("finds the beginning of more words than it looks for at the same cost in 200 sessions and in 800, and reports that it has not searched all", () => {
  const [few, many] = [200, 800].map((count) => searchedFor(count, "w"));
  // A hundred words of the list, the texts that hold them and the newest ones, and what the ten hits show.
  expect([few?.rows, many?.rows]).toEqual([many?.rows, few?.rows]);
  expect(many?.rows).toBeLessThanOrEqual(100 + 2 * 20 + 32);
  expect([few?.isPart, many?.isPart]).toEqual([true, true]);
  // The newest session is among the hits though its word is not among the first hundred.
  expect(searchedFor(800, "w79").ids).toContain("s799");
  expect([searchedFor(200, "w1x").isPart, searchedFor(200, "w1x").ids]).toEqual([false, ["s1"]]);
});

it("hands FTS5 no beginning of a word, which it would look up in all texts of all scopes, and asks for no more texts than it looks at", () => {
  for (const query of ["w", "w1", "apples w", "w and", "and app", "nothing"])
    for (const [sql, values] of searchedFor(150, query).asked.filter(([asked]) => asked.includes("MATCH"))) {
      expect(String(values[0])).toMatch(/^owner : "s[0-9a-f]+"/);
      expect(String(values[0])).not.toContain("*");
      expect(sql).toMatch(/words MATCH \?(?: ORDER BY rowid DESC)? LIMIT (?:\?|100000)\)/);
    }
});

it("finds a session by a longer word that begins with one that most sessions have", () => {
  const { engine } = engineWith(60);
  engine.serve([spoken(60, "applesauce and w60x")]);
  while (answer(engine, index) === true);
  const search: Call = { name: "search", ask: { scope: "local", query: "w60x apples", limit: 10, textsMax: 20 } };
  expect(answer(engine, search)).toMatchObject({ hits: [{ session: { id: "s60" } }] });
});

it("looks for longer words only where fewer texts hold the word itself than a search looks at, and for two frequent words in the same sessions", () => {
  const { engine } = engineWith(1);
  const textOf = (at: number): string => (at % 2 === 0 ? "roses" : at % 4 === 1 ? "rose and garden" : "rose");
  engine.serve(Array.from({ length: 100 }, (_, at) => spoken(at + 1, textOf(at + 1))));
  while (answer(engine, index) === true);
  const found = (query: string, textsMax: number): readonly number[] => {
    const { hits } = answer(engine, { name: "search", ask: { scope: "local", query, limit: 100, textsMax } }) as Answer<"search">;
    return hits.map(({ session: { id } }) => Number(id.slice(1))).sort((a, b) => a - b);
  };
  const odd = Array.from({ length: 50 }, (_, at) => 2 * at + 1);
  expect(found("rose", 200)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  expect(found("rose", 20)).toEqual(odd.slice(-20));
  expect(found("ros", 20)).toEqual(Array.from({ length: 20 }, (_, at) => 81 + at));
  expect(found("rose garden", 20)).toEqual(odd.slice(-20).filter((at) => at % 4 === 1));
  expect(found("garden roses", 20)).toEqual([]);
  expect(found("gard rose", 30)).toEqual(odd.filter((at) => at % 4 === 1));
});

it("indexes the words of many sessions in steps of at most 200 facts, one for all searches at once", () => {
  const { engine } = engineWith(600);
  const indexed = (): number => Number(engine.statements.one("SELECT sum(indexed_seq) AS n FROM sessions")?.["n"]);
  let before = 0;
  for (let steps = 0; before < 1_200; steps++) {
    engine.serve([index, index, index]);
    const now = indexed();
    expect(now - before).toBeGreaterThan(0);
    expect(now - before).toBeLessThanOrEqual(200);
    before = now;
    expect(steps).toBeLessThan(10);
  }
  expect(answer(engine, index)).toBe(false);
});

it("answers appends while the first search of many sessions is under way", async () => {
  const path = join(folder, `${files++}.db`);
  const engine = new StoreEngine({ path, busyTimeoutMs: 1_000, sizeMaxBytes: undefined });
  engine.serve(Array.from({ length: 3_000 }, (_, at) => spoken(at)));
  engine.close();
  const store = sqliteStore(path);
  onTestFinished(() => store.close());
  let isFound = false;
  const found = store.index.search("local", "w7x").then((hits) => {
    isFound = true;
    return hits;
  });
  let appends = 0;
  for (; !isFound; appends++) {
    const facts = [{ type: "session.changed", title: `t${appends}`, at: 1, v: 1 }] as const;
    await store.log.append(refOf("writer"), { expectedSeq: appends, batchId: `b${appends}`, facts });
  }
  expect((await found).map(({ session }) => session.id)).toContain("s7");
  expect(appends).toBeGreaterThan(10);
});

it("stops indexing for a search that was given up", async () => {
  const path = join(folder, `${files++}.db`);
  const engine = new StoreEngine({ path, busyTimeoutMs: 1_000, sizeMaxBytes: undefined });
  engine.serve(Array.from({ length: 3_000 }, (_, at) => spoken(at)));
  engine.close();
  const store = sqliteStore(path);
  const reason = new Error("given up");
  const giveUp = new AbortController();
  const found = store.index.search("local", "apples", { signal: giveUp.signal });
  await store.log.head(refOf("s1"));
  giveUp.abort(reason);
  await expect(found).rejects.toBe(reason);
  await store.close();
  const again = new StoreEngine({ path, busyTimeoutMs: 1_000, sizeMaxBytes: undefined });
  onTestFinished(() => again.close());
  expect(answer(again, index)).toBe(true);
});
