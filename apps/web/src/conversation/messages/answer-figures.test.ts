import type { ViewMessage } from "@loopwright/client";
import type { AssistantMessage } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { tokensIn } from "../amount-labels.ts";
import { figuresOf } from "./answer-figures.ts";

const turn = (at: number, message: Partial<AssistantMessage>, timings?: ViewMessage["timings"]): ViewMessage => ({
  id: String(at),
  parent: null,
  runId: "r",
  at,
  message: { role: "assistant", content: [], stopReason: "stop", ...message },
  ...(timings ? { timings } : {}),
});
const question: ViewMessage = { id: "1", parent: null, runId: "r", at: 1000, message: { role: "user", content: "?" } };

it("tokens and money are summed over the turns, the time counts from the question", () => {
  const turns = [
    turn(3000, { usage: { input: 10, output: 5 }, cost: { totalUsd: 0.1 } }, { totalMs: 1500, firstTokenMs: 500 }),
    turn(
      6000,
      { usage: { input: 20, output: 10, cacheRead: 4 }, cost: { totalUsd: 0.2 }, model: "m" },
      { totalMs: 1000, firstTokenMs: 500 },
    ),
  ];
  const figures = figuresOf(turns, question);
  expect(figures).toMatchObject({
    turns: 2,
    model: "m",
    usage: { input: 30, output: 15, cacheRead: 4 },
    durationMs: 5000,
    firstTokenMs: 500,
    speed: 10,
  });
  expect(figures.cost?.totalUsd).toBeCloseTo(0.3);
});

it("an answer to an older question took as long as its model calls, where they were seen", () => {
  expect(figuresOf([turn(9000, {}, { totalMs: 700 })], undefined).durationMs).toBe(700);
  expect(figuresOf([turn(9000, {})], undefined).durationMs).toBeUndefined();
});

it("an unknown figure is absent, never zero", () => {
  expect(figuresOf([turn(9000, {})], undefined)).toEqual({ turns: 1 });
});

it("the total of tokens is that of the vendor, or the sum of the known counts", () => {
  expect(tokensIn({ total: 7, input: 1 })).toBe(7);
  expect(tokensIn({ input: 1, cacheRead: 2, cacheWrite: 3, output: 4, reasoning: 2 })).toBe(10);
});
