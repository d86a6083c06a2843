import { expect, it } from "vitest";
import { joinedRun, simulatedRuns } from "../../src/loop/simulated-runs.ts";

it("gives the runs of simulated sessions with the messages that the session keeps of them, the same for the same seed", () => {
  const ends = new Set<string>();
  let lanes = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const runs = simulatedRuns(seed);
    expect(simulatedRuns(seed)).toEqual(runs);
    for (const { events, messages, result, runId } of runs) {
      ends.add(result.status);
      lanes += events.filter((event) => "lane" in event).length;
      const reported = events.flatMap((event) => (event.type === "message_end" ? [event.messageId] : []));
      expect(
        messages.map(({ id }) => id).filter((id) => !reported.includes(id)),
        runId,
      ).toEqual([]);
    }
  }
  expect([...ends].sort()).toEqual(["aborted", "completed", "error"]);
  expect(lanes).toBeGreaterThan(500);
});

it("gives every kind of run: children that stream and ask, discarded attempts with text, approvals, client tools, compactions, aborts and failures", () => {
  const seen = new Map<string, number>();
  const see = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  for (let seed = 1; seed <= 80; seed++) {
    for (const run of simulatedRuns(seed)) {
      expect(run.executions.flatMap(({ events }) => events).every((event) => run.events.includes(event))).toBe(true);
      const { logged, live } = joinedRun(run, seed);
      const durable = [...logged, ...live].filter((event) => "seq" in event);
      expect(durable).toEqual(run.events.filter((event) => "seq" in event));
      for (const { result } of run.executions) {
        see(result.status);
        if (result.status !== "awaiting_tool_execution") continue;
        if (result.pendingApprovals.length > 0) see("asks for approval");
        if (result.pendingToolCalls.length > 0) see("asks the client");
        if ([...result.pendingApprovals, ...result.pendingToolCalls].some(({ session }) => session !== undefined)) see("child asks");
      }
      let hasText = false;
      for (const { type } of run.events) {
        if (type === "turn_start") hasText = false;
        if (type === "text_delta") hasText = true;
        see(type === "attempt_discarded" && hasText ? "discarded text" : type);
      }
    }
  }
  const kinds = [
    ...["completed", "error", "aborted", "awaiting_tool_execution", "asks for approval", "asks the client", "child asks", "discarded text"],
    ...["agent_delta", "agent_waiting", "agent_end", "context_compacted", "aborting", "retry_scheduled", "message_snapshot", "progress"],
  ];
  for (const kind of kinds) expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(2);
});
