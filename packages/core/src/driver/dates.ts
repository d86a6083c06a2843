import { closeCall } from "../loop/closing-results.ts";
import type { FactBody } from "../loop/fact.ts";
import type { State } from "../loop/state.ts";

/** The next moment at which time alone moves the session, in milliseconds since the epoch. */
export function nextDate({ run }: State): number | undefined {
  if (!run || run.abort) return undefined;
  const dates = run.calls.flatMap((call) => (call.stage === "requested" && call.deadline !== undefined ? [call.deadline] : []));
  if (run.retry?.until !== undefined) dates.push(run.retry.until);
  return dates.length === 0 ? undefined : Math.min(...dates);
}

/** The results of client calls whose deadline has passed. */
export function expiredCalls({ run }: State, now: number): readonly FactBody[] {
  if (!run) return [];
  const late = run.calls.filter((call) => call.stage === "requested" && call.deadline !== undefined && call.deadline <= now);
  return late.map((call) =>
    closeCall(run.runId, call, { outcome: "expired", code: "TOOL_TIMEOUT", text: "No answer came before the deadline." }),
  );
}
