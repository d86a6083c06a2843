import type { Fact, FactBody } from "@loopwright/core";
import { expect, it } from "vitest";
import { checkChildren, checkFamily, childrenOf } from "./check-children.ts";

const runId = "r1";
const callKey = "r1.1.0";
const numbered = (bodies: readonly FactBody[]): readonly Fact[] =>
  bodies.map((body, index) => ({ ...body, seq: index + 1, at: 1, v: 1, epoch: 1 }));

const opened: FactBody = { type: "session.opened", agent: "chaos" };
const linked: FactBody = { type: "child.linked", runId, callKey, session: "c1", agent: "chaos" };
const keyed: FactBody = { ...linked, session: "c2", key: "k" } as FactBody;
const ended: FactBody = { type: "child.finished", runId, callKey, session: "c1", outcome: "ok", output: [] };
const result: FactBody = { type: "tool.finished", runId, callKey, outcome: "ok", output: [] };
const born = (parent: object): FactBody => ({
  type: "session.opened",
  agent: "chaos",
  parent: { session: "s", runId, callKey, depth: 1, ...parent },
});
const completed: FactBody = { type: "run.finished", runId: "x", status: "completed", reason: "answer" };

it("finds nothing wrong where a child is linked, ends, and its call has that end", () => {
  expect(checkChildren(numbered([opened, linked, ended]))).toEqual([]);
  expect(checkChildren(numbered([opened, keyed, result]))).toEqual([]);
  expect(childrenOf(numbered([opened, linked, keyed, ended]))).toEqual(["c1", "c2"]);
});

it.each<[string, readonly FactBody[], RegExp]>([
  ["a child that is linked twice", [opened, linked, linked, ended], /I16: the child c1 was linked again at 3/],
  ["a child that ends twice", [opened, linked, ended, ended], /I16: the child c1 ended again at 4/],
  ["an end of a child that was not linked", [opened, ended], /I16: the child c1 ended at 2 and was not linked/],
  ["an end before the link", [opened, ended, linked], /I16: the child c1 ended at 2 and was not linked/],
  [
    "an end for another call",
    [opened, linked, { ...ended, callKey: "r1.1.9" } as FactBody],
    /I16: the child c1 ended at 3 for another call/,
  ],
  ["an end for another run", [opened, linked, { ...ended, runId: "r2" } as FactBody], /I16: the child c1 ended at 3 for another call/],
  [
    "a result of a call that waits for its child",
    [opened, linked, result, ended],
    /I16: the call r1.1.0 waits for a child and got a result/,
  ],
])("finds %s", (_, bodies, flaw) => {
  expect(checkChildren(numbered(bodies)).join("\n")).toMatch(flaw);
});

const family = (childBodies: readonly FactBody[], bodies: readonly FactBody[] = [opened, linked, ended]): readonly string[] =>
  checkFamily({ parent: "s", facts: numbered(bodies), child: "c1", childFacts: numbered(childBodies) });

it("takes a child that names its parent and has the end that the parent has", () => {
  expect(family([born({}), completed])).toEqual([]);
  expect(family([], [opened, linked])).toEqual([]);
  expect(family([born({ depth: 3 }), completed], [born({ session: "top", depth: 2 }), linked, ended])).toEqual([]);
});

it.each<[string, readonly FactBody[], RegExp]>([
  ["a child of another session", [born({ session: "other" }), completed], /I16: the child c1 names another parent/],
  ["a child of another call", [born({ callKey: "r1.2.0" }), completed], /I16: the child c1 names another parent/],
  ["a child without a parent", [opened, completed], /I16: the child c1 names another parent/],
  ["a child of a wrong depth", [born({ depth: 2 }), completed], /I16: the child c1 has depth 2 and its parent makes it 1/],
  ["a result that the child never had", [born({})], /I16: the parent has a result of the child c1 at 3, which completed no run/],
  ["a result of a child that failed", [born({}), { ...completed, status: "failed" } as FactBody], /which completed no run/],
])("finds %s", (_, childBodies, flaw) => {
  expect(family(childBodies).join("\n")).toMatch(flaw);
});
