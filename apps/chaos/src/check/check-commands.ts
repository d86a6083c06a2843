/* Whether acknowledged aborts and decisions took effect. */
import type { Fact, FactOf } from "@loopwright/core";
import type { Acknowledged } from "../world/people/acknowledged.ts";
import type { Testimony } from "../world/testimony.ts";

export interface CommandEvidence {
  readonly facts: readonly Fact[];
  readonly acknowledged: readonly Acknowledged[];
  readonly testimonies: readonly Testimony[];
}

const ofType = <T extends Fact["type"]>(facts: readonly Fact[], type: T): readonly FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type);

/** I1 of aborts and decisions, I4 of calls that wait for approval, I8 of the log. */
export function checkCommands(evidence: CommandEvidence): readonly string[] {
  return [...checkAborts(evidence), ...checkDecisions(evidence), ...checkGates(evidence), ...checkRuns(evidence.facts)];
}

/** A yes to an abort is in the log, and its run was not completed after it. */
function checkAborts({ facts, acknowledged }: CommandEvidence): readonly string[] {
  const aborts = new Map(ofType(facts, "abort.requested").map((fact) => [fact.runId, fact]));
  const reasons = new Set(ofType(facts, "abort.requested").map(({ reason }) => reason));
  const asked = acknowledged.filter(({ what }) => what === "abort");
  const lost = asked.filter(({ key, runId }) => !reasons.has(key) && !aborts.has(runId ?? ""));
  const late = ofType(facts, "run.finished").filter(
    ({ seq, runId, status }) => status === "completed" && (aborts.get(runId)?.seq ?? seq) < seq,
  );
  return [
    ...lost.map(({ key, runId }) => `I1: the abort ${key} of ${runId ?? "the open run"} was acknowledged and is not in the log`),
    ...late.map(({ seq, runId }) => `I8: the run ${runId} was completed at ${seq}, after it was to be stopped`),
  ];
}

/** A yes to a decision is in the log, once, as it was meant. */
function checkDecisions({ facts, acknowledged }: CommandEvidence): readonly string[] {
  const flaws: string[] = [];
  const decided = Map.groupBy(ofType(facts, "approval.decided"), ({ callKey }) => callKey);
  for (const [callKey, facts] of decided) if (facts.length > 1) flaws.push(`I1: the call ${callKey} was decided ${facts.length} times`);
  for (const { what, key, callKeys = [], decision } of acknowledged) {
    if (what !== "decision") continue;
    for (const callKey of callKeys) {
      const [fact] = decided.get(callKey) ?? [];
      if (!fact) flaws.push(`I1: the decision ${key} on ${callKey} was acknowledged and is not in the log`);
      else if (fact.decision !== decision)
        flaws.push(`I1: the decision ${key} on ${callKey} was ${decision} and the log has ${fact.decision}`);
    }
  }
  return flaws;
}

/** A call that waits for approval is begun only after it was allowed, and never after it was denied. */
function checkGates({ facts, testimonies }: CommandEvidence): readonly string[] {
  const flaws: string[] = [];
  const leave = new Map<string, FactOf<"approval.decided">>();
  const asked = new Set(ofType(facts, "approval.requested").map(({ callKey }) => callKey));
  for (const fact of facts) {
    if (fact.type === "approval.decided" && !leave.has(fact.callKey)) leave.set(fact.callKey, fact);
    if (fact.type === "tool.started" && asked.has(fact.callKey) && leave.get(fact.callKey)?.decision !== "allow")
      flaws.push(`I5: the call ${fact.callKey} was begun at ${fact.seq} without leave`);
  }
  for (const callKey of asked) {
    const ends = ofType(facts, "tool.finished").filter((end) => end.callKey === callKey).length;
    if (ends !== 1) flaws.push(`I4: the call ${callKey} waited for approval and has ${ends} results`);
  }
  for (const { callKey, phase } of testimonies)
    if (phase === "start" && asked.has(callKey) && leave.get(callKey)?.decision !== "allow")
      flaws.push(`I5: the tool of ${callKey} was started without leave`);
  return flaws;
}

/** Each run that began ended, once. */
function checkRuns(facts: readonly Fact[]): readonly string[] {
  const ends = Map.groupBy(ofType(facts, "run.finished"), ({ runId }) => runId);
  const begun = new Set(ofType(facts, "run.started").map(({ runId }) => runId));
  return [...new Set([...begun, ...ends.keys()])]
    .map((runId) => ({ runId, count: ends.get(runId)?.length ?? 0 }))
    .filter(({ count }) => count !== 1)
    .map(({ runId, count }) => `I8: the run ${runId} ended ${count} times`);
}
