/* Whether the model was called no more often than the log records. */
import type { Fact, FactOf } from "@loopwright/core";
import { jobOfText } from "../world/job.ts";

const ofType = <T extends Fact["type"]>(facts: readonly Fact[], type: T): readonly FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type);

/**
 * I7: each request to the model is one `model.started` of a run that answers its job, written before. `requests`: those that the model had,
 * by job.
 */
export function checkModelCalls(facts: readonly Fact[], requests: { readonly [job: string]: number }): readonly string[] {
  const begun = new Map<string, number>();
  for (const { runId } of ofType(facts, "model.started")) begun.set(runId, (begun.get(runId) ?? 0) + 1);
  const flaws: string[] = [];
  let asked = 0;
  for (const [job, runs] of runsByJob(facts)) {
    const count = requests[job] ?? 0;
    const allowed = [...runs].reduce((sum, runId) => sum + (begun.get(runId) ?? 0), 0);
    asked += count;
    if (count > allowed) flaws.push(`I7: the model was asked ${count} times for ${job} and the log knows of ${allowed}`);
  }
  const total = [...begun.values()].reduce((sum, count) => sum + count, 0);
  if (asked > total) flaws.push(`I7: the model was asked ${asked} times and the log knows of ${total}`);
  return flaws;
}

/**
 * The runs that may answer a job: its own, or the one that it joined; a steered one that came too late has a run named for it. A run that reads the report of a
 * child may answer each job before it.
 */
function runsByJob(facts: readonly Fact[]): ReadonlyMap<string, ReadonlySet<string>> {
  const runs = new Map<string, Set<string>>();
  for (const { message, runId, inputId, mode, origin } of ofType(facts, "input.accepted")) {
    if (origin?.type === "session") for (const own of runs.values()) own.add(runId).add(inputId);
    const job = typeof message?.content === "string" ? jobOfText(message.content) : undefined;
    if (!job) continue;
    const own = runs.get(job.id) ?? new Set();
    runs.set(job.id, own.add(runId));
    if (mode === "steer") own.add(inputId);
  }
  return runs;
}
