import type { AgentEvent } from "@loopwright/core";
import { expect, test } from "vitest";
import { agentLines, agentsOf, foldAgents } from "./agent-tree.ts";
import { foldScreen } from "./fold-screen.ts";
import { emptyScreen, type Screen } from "./screen.ts";

const at = { sessionId: "root", runId: "r", at: 0 };
let seq = 0;
const fact = (body: object): AgentEvent => ({ ...at, seq: ++seq, k: 0, ...body }) as unknown as AgentEvent;
const below = (session: string, agent: string, event: AgentEvent): AgentEvent =>
  ({ type: "agent_delta", lane: 1, n: ++seq, callKey: "r.1.0", session, agent, event }) as unknown as AgentEvent;

const started = (session: string, agent: string): AgentEvent => fact({ type: "agent_start", callKey: "r.1.0", session, agent });
const ended = (session: string): AgentEvent =>
  fact({ type: "agent_end", callKey: "r.1.0", session, usage: { input: 1_200, output: 30 }, cost: { totalUsd: 0.01 } });
const runs = (tool: string): AgentEvent =>
  fact({ type: "tool_execution_start", toolCallId: "c", callKey: "s.1.0", toolName: tool, attempt: 1, args: {} });

const events: readonly AgentEvent[] = [
  started("s1", "researcher"),
  below("s1", "researcher", started("s2", "reader")),
  below("s1", "researcher", below("s2", "reader", runs("fetch"))),
];

test("children stand below the one that began them, with what they do and what they spent", () => {
  const working = events.reduce((agents, event) => foldAgents(agents, event), emptyScreen.agents);
  expect(agentLines(working)).toEqual(["researcher · at work · s1", "  reader · runs fetch · s2"]);
  const done = [below("s1", "researcher", ended("s2")), ended("s1")].reduce((agents, event) => foldAgents(agents, event), working);
  expect(agentLines(done).map((line) => line.split(" · ").slice(0, 2).join(" "))).toEqual(["researcher ended", "  reader ended"]);
  expect(agentLines(done)[0]).toMatch(/1\.2k.*\$0\.01.* · s1$/);
});

test("a child that is found again after a crash is the same one, and its name cannot act on the terminal", () => {
  const twice = [started("s1", "\u001b[31mred"), started("s1", "\u001b[31mred")].reduce(
    (agents, event) => foldAgents(agents, event),
    emptyScreen.agents,
  );
  expect(twice).toHaveLength(1);
  expect(twice[0]?.name).not.toContain("\u001b");
});

test("a call shows what the child deepest below it does", () => {
  const call = fact({ type: "tool_execution_start", toolCallId: "c", callKey: "r.1.0", toolName: "researcher", attempt: 1, args: {} });
  const screen = [call, ...events].reduce<Screen>((shown, event) => foldScreen(shown, event, 1), emptyScreen);
  expect(screen.blocks[0]).toMatchObject({ kind: "tool", phase: "running", step: "reader: fetch" });
  expect(agentLines(screen.agents)).toHaveLength(2);
});

test("children of a resumed session come from the results of their calls", () => {
  const details = { agent: "researcher", session: "s1", usage: { input: 10, output: 1 } };
  const agents = agentsOf([
    { role: "tool_result", toolCallId: "c", content: "Lisbon.", details },
    { role: "user", content: "Thanks" },
  ]);
  expect(agentLines(agents)[0]).toMatch(/^researcher · ended · .* · s1$/);
});
