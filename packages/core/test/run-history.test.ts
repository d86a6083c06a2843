import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readRun } from "../src/driver/log/read-run-events.ts";
import { type DurableEvent, execute, readHistory } from "../src/index.ts";
import type { Fact } from "../src/loop/fact.ts";
import { foldAll } from "../src/loop/fold.ts";
import { emptyState } from "../src/loop/state.ts";
import { upCast } from "../src/loop/up-cast-old-facts.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { world } from "./harness.ts";

const ref = { scope: "local", session: "s1" };
const start = { seq: 0, k: 0 };

async function gathered(history: AsyncIterable<readonly DurableEvent[]>): Promise<readonly DurableEvent[]> {
  const events: DurableEvent[] = [];
  for await (const batch of history) events.push(...batch);
  return events;
}

/** A store that has this log, and how many facts were read of it. */
function storeOf(facts: readonly Fact[]): { readonly store: SessionStore; readonly reads: number[] } {
  const { store } = world([]);
  const reads: number[] = [];
  const read: SessionStore["log"]["read"] = async (_, { from = 1, limit = facts.length } = {}) => {
    const page = facts.slice(from - 1, from - 1 + limit);
    reads.push(page.length);
    return structuredClone(page);
  };
  return { store: { ...store, log: { ...store.log, read } }, reads };
}

const folder = new URL("logs/", import.meta.url);
const namesIn = (version: string): readonly string[] =>
  readdirSync(new URL(version, folder)).flatMap((file) => (file.endsWith(".jsonl") ? [`${version}${file}`] : []));
const names = [...namesIn("./"), ...namesIn("version-2/")];
const logOf = (name: string): readonly Fact[] =>
  readFileSync(new URL(name, folder), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Fact);

describe("the events of one run", () => {
  it.each(names)("are those that the whole log gives, whatever part of the log was read before: %s", async (name) => {
    const facts = logOf(name);
    const { store } = storeOf(facts);
    const whole = await gathered(readHistory(store, ref));
    const runIds = [...new Set(whole.flatMap(({ runId }) => (runId === undefined ? [] : [runId])))];
    for (let seen = 0; seen <= facts.length; seen++) {
      const state = foldAll(emptyState, upCast(facts.slice(0, seen)));
      for (const runId of [...runIds, "none"]) {
        const own = whole.filter((event) => event.runId === runId);
        const place = { store, ref, runId, after: start };
        expect(await gathered(readRun(state, place)), `${runId} with ${seen} facts seen`).toEqual(own);
        const middle = own[Math.floor(own.length / 2)];
        if (middle) expect(await gathered(readRun(state, { ...place, after: middle }))).toEqual(own.slice(own.indexOf(middle) + 1));
      }
      expect(state).toEqual(foldAll(emptyState, upCast(facts.slice(0, seen))));
    }
  });

  it("cost the facts of the run, wherever it stands in a long log", async () => {
    const exchanges = 250;
    const { session, store: written } = world(Array.from({ length: exchanges }, () => ({ text: "Yes." })));
    for (let count = 0; count < exchanges; count++) await execute(session, `Question ${count}`).result();
    const { store, reads } = storeOf(await written.log.read(ref));
    const whole = await gathered(readHistory(store, ref));
    const runIds = [...new Set(whole.flatMap(({ runId }) => (runId === undefined ? [] : [runId])))];
    expect(runIds).toHaveLength(exchanges);
    const state = foldAll(emptyState, await written.log.read(ref));
    for (const place of [0, 125, 249]) {
      reads.length = 0;
      const runId = runIds[place] ?? "";
      expect(await gathered(readRun(state, { store, ref, runId, after: start }))).toEqual(whole.filter((event) => event.runId === runId));
      expect(reads.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(32);
    }
  });
});
