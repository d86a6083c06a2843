import { expect, it } from "vitest";
import { checkCensus, checkKeys, type StoredKey } from "./check-leftovers.ts";

const key = (name: string, expiresMs = -1): StoredKey => ({ name, expiresMs });
const many = (count: number, name: (index: number) => string, expiresMs?: number): readonly StoredKey[] =>
  Array.from({ length: count }, (_, index) => key(name(index), expiresMs));
const usual: readonly StoredKey[] = [key("l:{due}"), key("l:{local.s1}:facts"), key("l:{local.s10}:facts"), key("l:idempotency-1")];
const flawsOf = (keys: readonly StoredKey[]): readonly string[] =>
  checkKeys({ keys: [...usual, ...keys], sessions: ["s1", "s10"], keyedRequests: 2 });

it("takes a few keys for each session, and any that go by themselves", () => {
  expect(flawsOf(many(10, (index) => `l:{local.s1}:part${index}`))).toEqual([]);
  expect(flawsOf(many(500, (index) => `l:lane:{local.s1}:${index}`, 600_000))).toEqual([]);
});

it.each<[string, readonly StoredKey[], RegExp]>([
  ["keys that grow with the runs of a session", many(20, (index) => `l:{local.s1}:run${index}`), /I11: the session s1 has 21 keys/],
  ["keys that grow with deaths", many(60, (index) => `l:node:${index}`), /I11: 61 keys belong to no session/],
  ["more requests remembered than there were", many(2, (index) => `l:idempotency-x${index}`), /I11: 3 requests are remembered and 2/],
  ["keys that expire in a year", many(20, (index) => `l:{local.s1}:run${index}`, 365 * 86_400_000), /I11: the session s1 has 21 keys/],
])("finds %s", (_, keys, flaw) => {
  expect(flawsOf(keys).join("\n")).toMatch(flaw);
});

const rest = { handles: 40, quiet: 12, streams: 0, runs: 0, loaded: 4 };

it("takes a node at rest that keeps some connections", () => {
  expect(checkCensus("node0", rest)).toEqual([]);
});

it.each<[string, object, RegExp]>([
  ["a stream without a reader", { streams: 1 }, /I11: node0 has 1 streams/],
  ["a run that continues", { runs: 2 }, /I11: node0 has 2 runs/],
  ["handles that grow", { handles: 400 }, /I11: node0 holds 400 handles, at most 90/],
])("finds %s", (_, change, flaw) => {
  expect(checkCensus("node0", { ...rest, ...change }).join()).toMatch(flaw);
});
