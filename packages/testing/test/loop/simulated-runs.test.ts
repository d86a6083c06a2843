import { expect, it } from "vitest";
import { simulatedRuns } from "../../src/loop/simulated-runs.ts";

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
