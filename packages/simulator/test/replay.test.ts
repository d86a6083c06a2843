import type { Fact } from "@loopwright/core";
import { expect, it } from "vitest";
import { sampleAgent } from "../src/people/sample-agent.ts";
import { replaySession } from "../src/replay/replay-session.ts";
import { simulateWith } from "../src/run/simulate.ts";

const sessionCount = Number(process.env["LOOPWRIGHT_REPLAYS"] ?? 20);

/** Logs of simulated sessions, seed after seed: processes are replaced, schedules fire, people interrupt, answer, decide and abort. */
async function* simulatedLogs(
  count: number,
): AsyncGenerator<{ readonly seed: number; readonly session: string; readonly facts: readonly Fact[] }> {
  let given = 0;
  for (let seed = 1; given < count; seed++) {
    const logs = new Map<string, readonly Fact[]>();
    await simulateWith({ seed, calm: true }, { onLog: (session, facts) => void logs.set(session, facts) });
    for (const [session, facts] of logs) {
      if (facts.length === 0 || given === count) continue;
      given += 1;
      yield { seed, session, facts };
    }
  }
}

it(`replay of ${sessionCount} simulated sessions gives the identical log`, async () => {
  const types = new Map<string, number>();
  for await (const { seed, session, facts } of simulatedLogs(sessionCount)) {
    const report = await replaySession({ facts, agent: sampleAgent(), session });
    expect({ seed, session, ...report }).toEqual({ seed, session, isIdentical: true, equal: facts.length });
    for (const { type } of facts) types.set(type, (types.get(type) ?? 0) + 1);
  }
  // Sessions in which little happens would be identical too.
  for (const type of ["model.finished", "model.failed", "tool.finished", "client.requested", "approval.requested", "abort.requested"])
    expect(types.get(type) ?? 0, type).toBeGreaterThan(sessionCount / 10);
  expect(types.get("owner.claimed") ?? 0).toBeGreaterThan(sessionCount * 2);
});
