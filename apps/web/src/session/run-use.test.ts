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

it("calls of tools that count are counted as they are asked for, with those of the agents that tools asked; results are not", () => {
  const message = (id: string, body: object): ViewMessage => ({ id, parent: null, at: 0, runId: "r", message: body as never });
  const call = (name: string) => ({ type: "tool_call", id: name, callKey: name, name, args: {} });
  const path = [
    message("1", { role: "assistant", stopReason: "tool_calls", content: ["look", "plan", "researcher"].map(call) }),
    message("2", { role: "tool_result", toolName: "look", content: "seen" }),
    message("3", { role: "tool_result", toolName: "plan", content: "made", details: { toolCallCount: 9 } }),
    message("4", { role: "tool_result", toolName: "researcher", content: "found", details: { agent: "researcher", toolCallCount: 4 } }),
    message("5", { role: "tool_result", toolName: "researcher", content: "found", details: { agent: "researcher", toolCallCount: "4" } }),
  ];
  const options = { limits: { ...limits, turnsMax: 0, tokensMax: 0, costUsdMax: 0, toolCallsMax: 8 }, trace: undefined };
  expect(runUse({ path }, "r", { ...options, uncounted: new Set(["plan"]) })).toEqual([{ name: "Tool calls", used: 2 + 4, most: 8 }]);
  expect(runUse({ path }, "r", options)).toEqual([{ name: "Tool calls", used: 3 + 4, most: 8 }]);
});
