import { expect, it } from "vitest";
import type { Testimony } from "../world/testimony.ts";
import { checkStarts } from "./check-starts.ts";

const start: Testimony = { phase: "start", tool: "pay", session: "s1", callKey: "r1.1.0", attempt: 1, node: "node0" };

it("takes one start of each call, and as many as there are of tools that may run again", () => {
  const book = { ...start, tool: "book" };
  expect(checkStarts([start, { ...start, phase: "end" }, { ...start, callKey: "r1.1.1" }, book, book], ["pay"])).toEqual([]);
});

it("finds a call that was started again", () => {
  expect(checkStarts([start, { ...start, node: "node1" }], ["pay"])).toEqual([
    "I5: the call r1.1.0 of s1 runs once and was started 2 times, by node0, node1",
  ]);
});
