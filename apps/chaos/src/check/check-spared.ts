/* Whether an outage that was short enough has cost nothing. */
import type { Fact } from "@loopwright/core";

/** P14 of one session: its only run was completed, no attempt at an answer was thrown away, no call interrupted. */
export function checkSpared(session: string, facts: readonly Fact[]): readonly string[] {
  const flaws: string[] = [];
  const ends = facts.filter((fact) => fact.type === "run.finished");
  if (ends.length !== 1 || ends[0]?.status !== "completed")
    flaws.push(`P14: of ${session} ${ends.length} runs ended, the first as ${ends[0]?.status}`);
  for (const fact of facts) {
    if (fact.type === "model.failed") flaws.push(`P14: an answer of ${session} was thrown away at ${fact.seq}`);
    if (fact.type === "tool.finished" && fact.outcome !== "ok")
      flaws.push(`P14: a call of ${session} ended as ${fact.outcome} at ${fact.seq}`);
  }
  return flaws;
}
