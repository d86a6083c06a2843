import { contextEngine } from "@loopwright/context";
import { type Agent, createAgent, type Fact } from "@loopwright/core";
import { replaySession } from "@loopwright/replay";
import { expect, it } from "vitest";
import { sampleAgent } from "../src/people/sample-agent.ts";
import { treeAgent, treeModel } from "../src/people/tree-agent.ts";
import { simulateWith } from "../src/run/simulate.ts";
import type { SimulateOptions } from "../src/world/expand-options.ts";

const sessionCount = Number(process.env["LOOPWRIGHT_REPLAYS"] ?? 20);

/** Its history is compacted by summaries of the model, again and again. */
const compactingAgent = (): Agent =>
  createAgent({ ...sampleAgent(), context: contextEngine({ limitTokens: 400, compaction: { at: 0.5, summary: true } }) });

/** Processes are replaced, schedules fire, people interrupt, answer, decide and abort, agents start others, and histories are compacted. */
const worlds: readonly { readonly agent: Agent; readonly options: Omit<SimulateOptions, "seed"> }[] = [
  { agent: sampleAgent(), options: {} },
  { agent: treeAgent(), options: { agent: treeAgent(), model: treeModel } },
  { agent: compactingAgent(), options: { agent: compactingAgent() } },
];

interface SimulatedLog {
  readonly seed: number;
  readonly session: string;
  readonly facts: readonly Fact[];
  readonly agent: Agent;
}

/** Logs of simulated sessions, seed after seed, with those of their children. */
async function* simulatedLogs(count: number): AsyncGenerator<SimulatedLog> {
  let given = 0;
  // A tree has dozens of sessions, of which each world gives only some.
  const perWorld = Math.ceil(count / 10);
  for (let seed = 1; given < count; seed++)
    for (const { agent, options } of worlds) {
      const logs = new Map<string, readonly Fact[]>();
      await simulateWith({ seed, calm: true, ...options }, { onLog: (session, facts) => void logs.set(session, facts) });
      for (const [session, facts] of [...logs].filter(([, log]) => log.length > 0).slice(0, perWorld)) {
        if (given === count) return;
        given += 1;
        yield { seed, session, facts, agent: agentOf(agent, facts) };
      }
    }
}

/** The agent of the session, or one that an agent above starts. */
function agentOf(agent: Agent, facts: readonly Fact[]): Agent {
  const opened = facts.find((fact): fact is Extract<Fact, { type: "session.opened" }> => fact.type === "session.opened");
  const all = (one: Agent): readonly Agent[] => [
    one,
    ...one.tools.flatMap(({ agents = [] }) => agents.flatMap((each) => all(each as Agent))),
  ];
  return all(agent).find(({ name }) => name === opened?.agent) ?? agent;
}

it(`replay of ${sessionCount} simulated sessions gives the identical log`, async () => {
  const types = new Map<string, number>();
  for await (const { seed, session, facts, agent } of simulatedLogs(sessionCount)) {
    const report = await replaySession({ facts, agent, session });
    expect({ seed, session, ...report }).toEqual({ seed, session, isIdentical: true, equal: facts.length });
    for (const { type } of facts) types.set(type, (types.get(type) ?? 0) + 1);
  }
  // Sessions in which little happens would be identical too.
  for (const type of ["model.finished", "tool.finished", "child.linked", "child.finished", "context.compacted", "abort.requested"])
    expect(types.get(type) ?? 0, type).toBeGreaterThan(sessionCount / 10);
  for (const type of ["model.failed", "child.waiting", "client.requested", "approval.requested", "summary.failed"])
    expect(types.get(type) ?? 0, type).toBeGreaterThan(0);
  expect(types.get("owner.claimed") ?? 0).toBeGreaterThan(sessionCount * 2);
});

it("sessions that lived through crashes and clocks that are days off give the identical log", async () => {
  const logs: [string, readonly Fact[]][] = [];
  // A clock is 41 hours ahead while a tool ends; schedules are overdue while their session is taken over.
  for (const seed of [83, 119, 130]) await simulateWith({ seed }, { onLog: (session, facts) => void logs.push([session, facts]) });
  for (const [session, facts] of logs)
    expect(await replaySession({ facts, agent: sampleAgent(), session })).toEqual({ isIdentical: true, equal: facts.length });
});

it("sessions whose history is compacted at nearly every turn give the identical log, also where batches were refused in storms", async () => {
  for (const seed of [3, 19, 33]) {
    const logs: [string, readonly Fact[]][] = [];
    await simulateWith({ seed, agent: compactingAgent() }, { onLog: (session, facts) => void logs.push([session, facts]) });
    for (const [session, facts] of logs)
      expect({ seed, session, ...(await replaySession({ facts, agent: compactingAgent(), session })) }).toEqual({
        seed,
        session,
        isIdentical: true,
        equal: facts.length,
      });
  }
});
