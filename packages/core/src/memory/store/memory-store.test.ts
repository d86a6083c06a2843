import { expect, it } from "vitest";
import type { Fact } from "../../loop/fact.ts";
import { memoryStore } from "./memory-store.ts";

const ref = { scope: "local", session: "first" };
const fact: Fact = { type: "session.changed", title: "one", at: 1, v: 1, seq: 1 };

it("keeps facts that are numbered rightly by reference, and numbers copies of the others", async () => {
  const { log } = memoryStore();
  await log.append(ref, { expectedSeq: 0, batchId: "b", facts: [fact, fact] });
  const [first, second] = await log.read(ref);
  expect(first).toBe(fact);
  expect(second).toEqual({ ...fact, seq: 2 });
  expect(fact.seq).toBe(1);
});

it("hands out stores that know nothing of one another", async () => {
  const [one, two] = [memoryStore(), memoryStore()];
  await one.log.append(ref, { expectedSeq: 0, batchId: "b", facts: [fact] });
  expect(await two.log.read(ref)).toEqual([]);
  expect(await two.index.list("local")).toEqual([]);
});

it("can still be read after it was closed, twice", async () => {
  const store = memoryStore();
  await store.close();
  await store.close();
  expect(await store.log.read(ref)).toEqual([]);
});
