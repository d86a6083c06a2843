/* Whether the log of a parent and those of its children agree. */
import type { Fact, FactOf } from "@loopwright/core";

const ofType = <T extends Fact["type"]>(facts: readonly Fact[], type: T): readonly FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type);

/** The sessions that a log has linked as children. */
export const childrenOf = (facts: readonly Fact[]): readonly string[] => [
  ...new Set(ofType(facts, "child.linked").map(({ session }) => session)),
];

/** I16 of one log: a child is linked once, ends once and after it was linked, and its end is the only result of the call that waits for it. */
export function checkChildren(facts: readonly Fact[]): readonly string[] {
  const flaws: string[] = [];
  const links = new Map<string, FactOf<"child.linked">>();
  const ended = new Set<string>();
  for (const fact of facts) {
    if (fact.type === "child.linked") {
      if (links.has(fact.session)) flaws.push(`I16: the child ${fact.session} was linked again at ${fact.seq}`);
      links.set(fact.session, fact);
    }
    if (fact.type === "child.finished") {
      const link = links.get(fact.session);
      if (!link) flaws.push(`I16: the child ${fact.session} ended at ${fact.seq} and was not linked`);
      else if ((!link.background && link.runId !== fact.runId) || (fact.callKey ?? link.callKey) !== link.callKey)
        flaws.push(`I16: the child ${fact.session} ended at ${fact.seq} for another call than it was linked for`);
      if (ended.has(fact.session)) flaws.push(`I16: the child ${fact.session} ended again at ${fact.seq}`);
      ended.add(fact.session);
      const reports = ofType(facts, "input.accepted").filter(({ origin }) => origin?.type === "session" && origin.session === fact.session);
      if (link?.background && reports.length !== 1)
        flaws.push(`I16: the child ${fact.session} in the background ended at ${fact.seq} and has ${reports.length} reports`);
    }
  }
  return [...flaws, ...checkResults(facts, [...links.values()])];
}

/** A call without a key waits for its child: no tool gives it a good result. */
function checkResults(facts: readonly Fact[], links: readonly FactOf<"child.linked">[]): readonly string[] {
  const waiting = new Map(links.flatMap(({ key, callKey, seq }) => (key === undefined && callKey !== undefined ? [[callKey, seq]] : [])));
  return ofType(facts, "tool.finished")
    .filter(({ callKey, outcome, seq }) => outcome === "ok" && seq > (waiting.get(callKey) ?? Number.POSITIVE_INFINITY))
    .map(({ callKey, seq }) => `I16: the call ${callKey} waits for a child and got a result without it at ${seq}`);
}

/** A parent and one of its children, by their logs. */
export interface Family {
  readonly parent: string;
  readonly facts: readonly Fact[];
  readonly child: string;
  readonly childFacts: readonly Fact[];
}

/** I16 of two logs: a child names its parent, and a good end that the parent has of it is one that the child has. */
export function checkFamily({ parent, facts, child, childFacts }: Family): readonly string[] {
  const link = ofType(facts, "child.linked").find(({ session }) => session === child);
  const end = ofType(facts, "child.finished").find(({ session }) => session === child);
  const opened = ofType(childFacts, "session.opened")[0];
  const flaws: string[] = [];
  if (!link) return flaws;
  const named = opened?.parent;
  if (opened && (named?.session !== parent || named.runId !== link.runId || named.callKey !== link.callKey))
    flaws.push(`I16: the child ${child} names another parent than the call that linked it`);
  const depth = (ofType(facts, "session.opened")[0]?.parent?.depth ?? 0) + 1;
  if (named && named.depth !== depth) flaws.push(`I16: the child ${child} has depth ${named.depth} and its parent makes it ${depth}`);
  const isCompleted = ofType(childFacts, "run.finished").some(({ status }) => status === "completed");
  if (end?.outcome === "ok" && !isCompleted)
    flaws.push(`I16: the parent has a result of the child ${child} at ${end.seq}, which completed no run`);
  return flaws;
}
