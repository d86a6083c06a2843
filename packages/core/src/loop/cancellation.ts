import { childStopped, interrupted, notRun } from "./closing-results.ts";
import type { Plan } from "./effect.ts";
import type { FactBody } from "./fact.ts";
import { crashed } from "./next-turn.ts";
import type { Call, Run } from "./state.ts";

/**
 * What has not started ends as aborted, what is in doubt as interrupted; what runs is signalled by the driver and still
 * owes its closing fact. The run ends after the last one.
 */
export function planAbort(run: Run): Plan {
  const { runId, abort, open } = run;
  const facts: FactBody[] = [];
  if (open?.inDoubt) facts.push(crashed(runId, open));
  for (const call of run.calls) {
    if (call.state === "done" || (call.state === "running" && !call.inDoubt)) continue;
    const close = call.state === "running" ? interrupted : call.state === "awaiting_child" ? childStopped : notRun;
    facts.push(close(runId, call));
  }
  const isOver = !open && run.calls.every((call: Call) => call.state === "done");
  if (isOver) facts.push({ type: "run.finished", runId, status: "aborted", reason: abort?.reason ?? "aborted" });
  return { facts, effects: [] };
}
