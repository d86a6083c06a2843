import type { AgentSession, DurableEvent } from "@loopwright/core";
import type { Claim } from "./finding.ts";

/** How many runs of a session are read. */
const runsMax = 4;

/** I3: the events of one run are those that the whole log gives for it, also where a schedule has sent its input. Reads the last runs, and the last one of a schedule. */
export async function checkRuns(session: AgentSession, events: readonly DurableEvent[], claim: Claim): Promise<void> {
  const runs = [...new Set(events.flatMap(({ runId }) => runId ?? []))];
  const scheduled = session.firings.findLast(({ runId }) => runId !== undefined)?.runId;
  for (const runId of new Set([...runs.slice(-runsMax), ...(scheduled === undefined ? [] : [scheduled])])) {
    const own: DurableEvent[] = [];
    for await (const batch of session.readRun(runId)) own.push(...batch);
    const should = events.filter((event) => event.runId === runId);
    claim(
      JSON.stringify(own) === JSON.stringify(should),
      "I3",
      () => `read alone, the run ${runId} has ${own.length} events; the log has ${should.length}`,
    );
  }
}
