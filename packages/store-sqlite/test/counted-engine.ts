import { join } from "node:path";
import type { SQLInputValue } from "node:sqlite";
import type { Fact } from "@loopwright/core";
import { factTexts } from "@loopwright/core/stores";
import { onTestFinished } from "vitest";
import type { Call, Result } from "../src/operation.ts";
import { StoreEngine } from "../src/store-engine.ts";
import { refOf } from "./engine-scene.ts";
import { freshFolder } from "./fresh-folder.ts";

const folder = freshFolder();
let files = 0;

/** A session that contains "apples" and a word of its own, or this text. */
export function spoken(at: number, text = `apples and w${at}x`): Call {
  const facts = [
    { type: "session.opened", agent: "helper", at, v: 1 },
    { type: "input.accepted", message: { role: "user", content: [{ type: "text", text }] }, at, v: 1 },
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

/** What an engine has asked its file, and how many rows it was given. */
interface Work {
  rows: number;
  readonly asked: Map<string, readonly SQLInputValue[]>;
}

/** An engine with so many sessions; `work` counts from now on. */
export function engineWith(count: number): { readonly engine: StoreEngine; readonly work: Work } {
  const engine = new StoreEngine({ path: join(folder, `${files++}.db`), busyTimeoutMs: 1_000, sizeMaxBytes: undefined });
  onTestFinished(() => engine.close());
  const together = 1_000;
  for (let from = 0; from < count; from += together)
    engine.serve(Array.from({ length: Math.min(together, count - from) }, (_, at) => spoken(from + at)));
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

export function answer(engine: StoreEngine, call: Call): unknown {
  const [result] = engine.serve([call]) as readonly [Result];
  if (!("answer" in result)) throw new Error(result.fault.message);
  engine.keepProjections();
  return result.answer;
}

/** What the engine does with its file beside looking things up: whole tables, indexes or scopes that are walked, and sorting. `json_each` is a list that the question brings; `newest` and `passed` end at a stated number, and of `word_list` one word is read at a time. */
function walks({ engine, work }: ReturnType<typeof engineWith>): readonly string[] {
  return [...work.asked].flatMap(([sql, values]) =>
    engine.statements
      .all(`EXPLAIN QUERY PLAN ${sql}`, ...values)
      .map(({ detail }) => String(detail))
      .filter((detail) =>
        /SCAN (?!words VIRTUAL|json_each VIRTUAL|temp.word_list VIRTUAL|newest|passed|\(subquery)|\(scope=\?\)$|TEMP B-TREE FOR (?!DISTINCT)/.test(
          detail,
        ),
      ),
  );
}

const claimed = (at: number): Call => ({ name: "claim", ask: { ref: refOf(`s${at}`), node: "n", leaseMs: 60_000, now: 0 } });

/** Questions that are bounded by what they give, and how many rows each reads at most. `textsMax`: how many texts a search looks at. */
export const boundedCalls = (textsMax: number): readonly (readonly [string, Call, number])[] => {
  const search = (query: string): Call => ({ name: "search", ask: { scope: "local", query, limit: 10, textsMax } });
  return [
    // Its own row and its kept summary for each session.
    ["a page of a list", { name: "list", ask: { scope: "local", limit: 10, before: { updatedAt: 30, id: "s30" }, parent: undefined } }, 20],
    // The texts that are ranked, and what the ten hits show.
    ["a search for a word that every session has", search("apples"), textsMax + 32],
    ["a search for two words that every session has", search("apples and"), 2 * textsMax + 34],
    ["a search for that word and one that a single session has", search("apples w5x"), 8],
    ["a sweep among sessions that leases hold", { name: "due", ask: { now: 1, limit: 10, machineNow: 1 } }, 6],
  ];
};

export const index: Call = { name: "indexWords", ask: { scope: "local" } };

/** The rows that an answer costs among so many sessions, of which all but five are held, and what it walks. */
export function costAmong(count: number): (call: Call) => { readonly rows: number; readonly walks: readonly string[] } {
  const world = engineWith(count);
  while (answer(world.engine, index) === true);
  world.engine.serve(Array.from({ length: count - 5 }, (_, at) => claimed(at)));
  return (call) => {
    answer(world.engine, call);
    world.work.rows = 0;
    world.work.asked.clear();
    answer(world.engine, call);
    return { rows: world.work.rows, walks: walks(world) };
  };
}
