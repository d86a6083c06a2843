/* Whether a tree of sessions agrees with itself, log by log. */
import type { Fact, FactOf } from "@loopwright/core";

const ofType = <T extends Fact["type"]>(facts: readonly Fact[], type: T): readonly FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type);

/** One session and those that its runs have started. */
export interface Tree {
  readonly session: string;
  readonly facts: readonly Fact[];
  readonly below: readonly Tree[];
}

export interface TreeVerdict {
  readonly flaws: readonly string[];
  readonly children: number;
  /** Children that ended well, whose tokens and cost were compared with what their parents have of them. */
  readonly sums: number;
  /** Reports of children in the background. */
  readonly reports: number;
}

/**
 * I16 of a tree at rest: each child has ended for the parent whose run has ended; what it spent is what its parent counts of it; and one whose parent was
 * stopped got an abort, unless it had ended before.
 */
export function checkTree({ session, facts, below }: Tree): TreeVerdict {
  const verdicts = below.map(checkTree);
  const flaws: string[] = [];
  let sums = 0;
  const total = (of: "children" | "sums" | "reports"): number => verdicts.reduce((sum, verdict) => sum + verdict[of], 0);
  for (const link of ofType(facts, "child.linked")) {
    const child = below.find((one) => one.session === link.session);
    const run = ofType(facts, "run.finished").find(({ runId }) => runId === link.runId);
    const end = ofType(facts, "child.finished").find((fact) => fact.session === link.session);
    if (run && !end) flaws.push(`I16: the child ${link.session} of ${session} has no end, and the run ${link.runId} has ended`);
    if (!child) {
      if (end?.outcome === "ok") flaws.push(`I16: the child ${link.session} of ${session} ended well and has no log`);
      continue;
    }
    if (end?.outcome === "ok") {
      sums += 1;
      flaws.push(...checkSum(child, end));
    }
    if (run?.status === "aborted" && !link.background) flaws.push(...checkAbort(child, run));
  }
  const reporters = new Set(ofType(facts, "child.linked").flatMap(({ session, background }) => (background ? [session] : [])));
  const reports = ofType(facts, "input.accepted").filter(
    ({ origin }) => origin?.type === "session" && reporters.has(origin.session),
  ).length;
  return {
    flaws: [...flaws, ...verdicts.flatMap((verdict) => verdict.flaws)],
    children: below.length + total("children"),
    sums: sums + total("sums"),
    reports: reports + total("reports"),
  };
}

/** Tokens, and billionths of a dollar. */
function spentIn(facts: readonly Fact[]): { readonly tokens: number; readonly nanoUsd: number } {
  let [tokens, usd] = [0, 0];
  for (const fact of facts) {
    if (fact.type !== "model.finished" && fact.type !== "model.failed" && fact.type !== "child.finished") continue;
    tokens += (fact.usage?.input ?? 0) + (fact.usage?.output ?? 0);
    usd += fact.cost?.totalUsd ?? 0;
  }
  return { tokens, nanoUsd: Math.round(usd * 1e9) };
}

function checkSum({ session, facts }: Tree, end: FactOf<"child.finished">): readonly string[] {
  const own = spentIn(facts);
  const counted = spentIn([end]);
  if (own.tokens === counted.tokens && Math.abs(own.nanoUsd - counted.nanoUsd) <= 1) return [];
  return [
    `I16: the child ${session} spent ${own.tokens} tokens and ${own.nanoUsd} nano-dollars, and its parent counts ${counted.tokens} and ${counted.nanoUsd}`,
  ];
}

/** A child that was completed after the end of the run that was stopped had an abort. */
function checkAbort({ session, facts }: Tree, run: FactOf<"run.finished">): readonly string[] {
  const hasAbort = ofType(facts, "abort.requested").length > 0;
  return ofType(facts, "run.finished")
    .filter(({ status, at }) => status === "completed" && at > run.at && !hasAbort)
    .map(({ seq }) => `I8: the child ${session} was completed at ${seq}, after the run above it was stopped, and got no abort`);
}
