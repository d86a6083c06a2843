import type { Fact, FactBody } from "@loopwright/core";
import { expect, it } from "vitest";
import { checkTree, type Tree } from "./check-tree.ts";

const log = (...bodies: readonly (FactBody & { readonly at?: number })[]): readonly Fact[] =>
  bodies.map((body, index) => ({ at: index, v: 2, ...body, seq: index + 1 }) as Fact);

const usage = { input: 10, output: 5 };
const cost = { totalUsd: 0.000_025 };
const message = { role: "assistant", content: [], stopReason: "stop" } as const;
const model: FactBody = {
  ...{ type: "model.finished", runId: "r2", turn: 1, attempt: 1, message, stopReason: "stop", calls: [], timings: { totalMs: 1 } },
  ...{ usage, cost },
};
const link: FactBody = { type: "child.linked", runId: "r1", callKey: "r1.1.0", session: "c", agent: "middle", key: "agent" };
const end: FactBody = { type: "child.finished", runId: "r1", callKey: "r1.1.0", session: "c", outcome: "ok", output: [], usage, cost };
const over = (runId: string, status: "completed" | "aborted"): FactBody => ({ type: "run.finished", runId, status, reason: "answer" });
const child = (...facts: readonly (FactBody & { readonly at?: number })[]): Tree => ({ session: "c", facts: log(...facts), below: [] });
const flawsOf = (facts: readonly Fact[], ...below: readonly Tree[]) => checkTree({ session: "p", facts, below }).flaws;

it("a tree whose sums agree and whose children have ended has no flaw", () => {
  const verdict = checkTree({
    session: "p",
    facts: log(link, end, over("r1", "completed")),
    below: [child(model, over("r2", "completed"))],
  });
  expect(verdict).toEqual({ flaws: [], children: 1, sums: 1, reports: 0 });
});

it("a child that spent what its parent does not count is found, and so is one that its parent counts twice", () => {
  const whole = log(link, end, over("r1", "completed"));
  expect(flawsOf(whole, child(model, model, over("r2", "completed")))).toEqual([expect.stringMatching(/spent 30 tokens .* counts 15/)]);
  expect(flawsOf(whole, child(over("r2", "completed")))).toEqual([expect.stringMatching(/spent 0 tokens .* counts 15/)]);
});

it("a child without an end is found, and one that ended well without a log", () => {
  expect(flawsOf(log(link, over("r1", "completed")), child(model))).toEqual([expect.stringMatching(/c of p has no end/)]);
  expect(flawsOf(log(link, end, over("r1", "completed")))).toEqual([expect.stringMatching(/ended well and has no log/)]);
});

it("a child that is completed after the run above it was stopped is found, unless it had an abort", () => {
  const stopped = log(link, { ...end, outcome: "aborted" }, over("r1", "aborted"));
  const late = { ...over("r2", "completed"), at: 99 };
  expect(flawsOf(stopped, child(model, late))).toEqual([expect.stringMatching(/got no abort/)]);
  expect(flawsOf(stopped, child(model, { type: "abort.requested", runId: "r2", reason: "parent" }, late))).toEqual([]);
});
