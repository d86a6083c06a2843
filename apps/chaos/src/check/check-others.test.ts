import { expect, it } from "vitest";
import { checkOthers, type Sight } from "./check-others.ts";

const [damaged, others] = ["d0", ["d1", "d2"]];
const good: Sight = { node: "node0", completed: others, listed: ["d2", "d0", "d1"], found: others, damagedCode: "SESSION_CORRUPT" };
const flawsOf = (changes: Partial<Sight>): string => checkOthers({ ...good, ...changes }, { damaged, others }).join("\n");

it("takes others that are all there, whether the damaged one is listed or not", () => {
  expect(flawsOf({})).toBe("");
  expect(flawsOf({ listed: others })).toBe("");
});

it.each<[string, Partial<Sight>, RegExp]>([
  ["an open run", { completed: ["d1"] }, /does not show as completed: d2/],
  ["a list without one", { listed: ["d0", "d1"] }, /does not show as listed: d2/],
  ["a search that finds nothing", { found: [] }, /does not show as found: d1, d2/],
  ["damage that is not reported", { damagedCode: "undefined" }, /answers for d0 with undefined/],
])("finds %s", (_, changes, flaw) => {
  expect(flawsOf(changes)).toMatch(flaw);
});
