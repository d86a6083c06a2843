import type { Fact } from "@loopwright/core";
import { expect, it } from "vitest";
import { checkSpared } from "./check-spared.ts";

const call = { seq: 3, type: "tool.finished", outcome: "ok" };
const end = { seq: 4, type: "run.finished", status: "completed" };
const flawsOf = (...facts: readonly object[]): string => checkSpared("x", facts as unknown as readonly Fact[]).join("\n");

it("takes a run that was completed with all its calls", () => {
  expect(flawsOf(call, end)).toBe("");
});

it.each<[string, readonly object[], RegExp]>([
  ["an answer that was begun again", [{ seq: 2, type: "model.failed" }, call, end], /an answer of x was thrown away at 2/],
  ["a call that was interrupted", [{ ...call, outcome: "interrupted" }, end], /ended as interrupted at 3/],
  ["a run without an end", [call], /0 runs ended/],
  ["a run that failed", [call, { ...end, status: "failed" }], /ended, the first as failed/],
])("finds %s", (_, facts, flaw) => {
  expect(flawsOf(...facts)).toMatch(flaw);
});
