import type { LoopwrightClient } from "@loopwright/client";
import type { DurableEvent } from "@loopwright/core/protocol";
import type { LoadRun } from "../traces/run-traces.ts";

/** Reads the durable events of runs of a session, page by page. */
export function loadRun({ sessions }: LoopwrightClient, sessionId: string): LoadRun {
  return async (runId, signal) => {
    const events: DurableEvent[] = [];
    for (let after = ""; ; ) {
      const page = await sessions.run(sessionId, runId, { after, signal });
      events.push(...page.events);
      if (page.next === undefined) return events;
      after = page.next;
    }
  };
}
