import type { ViewMessage } from "@loopwright/client";
import { expect, it } from "vitest";
import { lastRunOf, runUse } from "./run-use.ts";

const limits = { turnsMax: 10, toolCallsMax: 0, tokensMax: 1_000, costUsdMax: 0.5, durationMs: 0 };
const answer = (id: string, runId: string, tokens: number): ViewMessage => ({
  id,
  parent: null,
  at: 0,
  runId,
  message: {
    role: "assistant",
    content: [],
    stopReason: "stop",
    usage: { input: tokens, output: 1, source: "vendor" },
    cost: { totalUsd: tokens / 1_000 },
  } as never,
});

it("a run has used what its answers, its children and its summaries took, of each limit that there is", () => {
  const path = [answer("1", "r1", 500), answer("2", "r2", 100), answer("3", "r2", 20)];
  const trace = {
    verdicts: new Map(),
    ofCalls: new Map(),
    agents: [{ session: "c", agent: "reader", isDone: true, usage: { input: 30, output: 2 }, cost: { totalUsd: 0.01 } }],
    compactions: new Map([["3", [{ usage: { input: 5, output: 5 } } as never]]]),
  };
  expect(lastRunOf({ path })).toBe("r2");
  expect(runUse({ path }, "r2", { limits, trace })).toEqual([
    { name: "Turns", used: 2, most: 10 },
    { name: "Tokens", used: 101 + 21 + 32 + 10, most: 1_000 },
    { name: "Cost", used: expect.closeTo(0.13, 6), most: 0.5 },
  ]);
});
