import { join } from "node:path";
import type { SQLInputValue } from "node:sqlite";
import type { Fact } from "@loopwright/core";
import { factTexts } from "@loopwright/core/stores";
import { expect, it, onTestFinished } from "vitest";
import { sqliteStore } from "../src/index.ts";
import type { Call, Result } from "../src/operation.ts";
import { StoreEngine } from "../src/store-engine.ts";
import { refOf } from "./engine-scene.ts";
import { freshFolder } from "./fresh-folder.ts";

const folder = freshFolder();
let files = 0;

/** A session that contains "apples", and a word of its own. */
function spoken(at: number): Call {
  const facts = [
    { type: "session.opened", agent: "helper", at, v: 1 },
    { type: "input.accepted", message: { role: "user", content: [{ type: "text", text: `apples and w${at}x` }] }, at, v: 1 },
  ] as unknown as readonly Fact[];
  const bodies = factTexts({ expectedSeq: 0, facts });
  const ask = {
    ref: refOf(`s${at}`),
    expectedSeq: 0,
    epoch: undefined,
    batchId: "first",
    bodies,
    at,
    closes: false,
    release: false,
    parent: undefined,
    due: 0,
  };
  return { name: "append", ask };
}

const claimed = (at: number): Call => ({ name: "claim", ask: { ref: refOf(`s${at}`), node: "n", leaseMs: 60_000, now: 0 } });

/** What an engine has asked its file, and how many rows it was given. */
interface Work {
  rows: number;
  readonly asked: Map<string, readonly SQLInputValue[]>;
}

/** An engine with so many sessions; `work` counts from now on. */
function engineWith(count: number): { readonly engine: StoreEngine; readonly work: Work } {
  const engine = new StoreEngine({ path: join(folder, `${files++}.db`), busyTimeoutMs: 1_000, sizeMaxBytes: undefined });
  onTestFinished(() => engine.close());
  engine.serve(Array.from({ length: count }, (_, at) => spoken(at)));
  const work: Work = { rows: 0, asked: new Map() };
  const { statements } = engine;
  const { all, one, each } = statements;
  const noted = <T>(sql: string, values: readonly SQLInputValue[], rows: T): T => {
    if (!sql.startsWith("PRAGMA")) work.asked.set(sql, values);
    return rows;
  };
  Object.assign(statements, {
    all(sql: string, ...values: readonly SQLInputValue[]) {
      const rows = all(sql, ...values);
      work.rows += rows.length;
      return noted(sql, values, rows);
    },
    one(sql: string, ...values: readonly SQLInputValue[]) {
      const row = one(sql, ...values);
      work.rows += row ? 1 : 0;
      return noted(sql, values, row);
    },
    *each(sql: string, ...values: readonly SQLInputValue[]) {
      noted(sql, values, undefined);
      for (const row of each(sql, ...values)) {
        work.rows++;
        yield row;
      }
    },
  });
  return { engine, work };
}

function answer(engine: StoreEngine, call: Call): unknown {
  const [result] = engine.serve([call]) as readonly [Result];
  if (!("answer" in result)) throw new Error(result.fault.message);
  engine.keepProjections();
  return result.answer;
}

/** What the engine does with its file beside looking things up: whole tables or indexes that are walked, and sorting. */
function walks({ engine, work }: ReturnType<typeof engineWith>): readonly string[] {
  return [...work.asked].flatMap(([sql, values]) =>
    engine.statements
      .all(`EXPLAIN QUERY PLAN ${sql}`, ...values)
      .map(({ detail }) => String(detail))
      .filter((detail) => /SCAN (?!words VIRTUAL|newest|\(subquery)|TEMP B-TREE FOR (?!DISTINCT)/.test(detail)),
  );
}

const list: Call = { name: "list", ask: { scope: "local", limit: 10, before: { updatedAt: 30, id: "s30" }, parent: undefined } };
const search = (query: string): Call => ({ name: "search", ask: { scope: "local", query, limit: 10, textsMax: 20 } });
const due: Call = { name: "due", ask: { now: 1, limit: 10, machineNow: 1 } };
const index: Call = { name: "indexWords", ask: { scope: "local" } };

it.each<readonly [string, Call, number]>([
  // Its own row and its kept summary for each session.
  ["a page of a list", list, 20],
  // The 20 texts that are ranked, and what the ten hits show.
  ["a search for a word that every session has", search("apples"), 52],
  ["a search for that word and one that a single session has", search("apples w5x"), 8],
  ["a sweep among sessions that leases hold", due, 6],
])("%s reads as many rows of 60 sessions as of 600, no more than stated, and walks no table", (_, call, rowsMax) => {
  const [few, many] = [60, 600].map((count) => {
    const world = engineWith(count);
    while (answer(world.engine, index) === true);
    world.engine.serve(Array.from({ length: count - 5 }, (_, at) => claimed(at)));
    answer(world.engine, call);
    world.work.rows = 0;
    world.work.asked.clear();
    answer(world.engine, call);
    const { rows } = world.work;
    return { rows, walks: walks(world) };
  });
  expect(few?.rows).toBeGreaterThan(0);
  expect(many).toEqual({ rows: few?.rows, walks: [] });
  expect(many?.rows).toBeLessThanOrEqual(rowsMax);
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
