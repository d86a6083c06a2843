import type { Fact, FactOf } from "@loopwright/core";
import { factsOf } from "../world/simulated-store.ts";
import type { World } from "../world/simulated-world.ts";
import { checkLog } from "./check-log.ts";
import { claimsInto, type Finding } from "./finding.ts";
import { readLog } from "./log-model.ts";

/** More children than a simulated session has. */
const childrenMax = 10_000;

/** What is checked of a tree of sessions. */
export interface TreeToCheck {
  readonly world: World;
  readonly session: string;
  readonly facts: readonly Fact[];
  readonly findings: Finding[];
  readonly isOver: boolean;
}

/**
 * I16: each call has one child at most for a key, which its parent knows, gets its input once and ends once before its parent's run, with what it
 * spent. A store that is away delays a call, and does not end it.
 */
export async function checkTree({ world, session, facts, findings, isOver }: TreeToCheck): Promise<void> {
  const claim = claimsInto(findings, session);
  const links = facts.filter((fact): fact is FactOf<"child.linked"> => fact.type === "child.linked" && fact.key !== undefined);
  const places = Map.groupBy(links, ({ runId, callKey = "", key }) => `${runId} ${callKey} ${key}`);
  for (const [place, those] of places) claim(those.length === 1, "I16", () => `${those.length} children were started for ${place}`);
  for (const id of await childrenOf(world, session))
    claim(
      facts.some((fact) => fact.type === "child.linked" && fact.session === id),
      "I16",
      () => `the child ${id} works, and its parent does not know it`,
    );
  const isStopped = (runId: string): boolean => facts.some((fact) => fact.type === "abort.requested" && fact.runId === runId);
  for (const fact of facts)
    if (fact.type === "tool.finished" && !isStopped(fact.runId) && links.some(({ callKey }) => callKey === fact.callKey))
      claim(
        fact.failure?.code !== "STORE_UNAVAILABLE",
        "I16",
        () => `the call ${fact.callKey} of the run ${fact.runId} gave its child up because the store was away`,
      );
  for (const link of links) {
    const ends = facts.filter((fact): fact is FactOf<"child.finished"> => fact.type === "child.finished" && fact.session === link.session);
    claim(ends.length <= 1, "I16", () => `the child ${link.session} ended ${ends.length} times`);
    const isEnded = facts.some((fact) => fact.type === "run.finished" && fact.runId === link.runId);
    if (link.background ? isOver : isEnded)
      claim(
        ends.length === 1,
        "I16",
        () => `the child ${link.session} of the run ${link.runId} should have ended, and its end is not in the log`,
      );
    const below = await factsOf(world.store, { scope: world.scope, session: link.session });
    const inputs = below.filter((fact) => fact.type === "input.accepted" && fact.origin?.type !== "session").length;
    claim(inputs <= 1, "I16", () => `the child ${link.session} got ${inputs} inputs`);
    const runs = below.filter((fact): fact is FactOf<"run.finished"> => fact.type === "run.finished");
    const [end] = ends;
    if (end?.outcome === "ok") {
      const isCompleted = runs.some(({ status }) => status === "completed");
      claim(isCompleted, "I16", () => `the child ${link.session} is ok above and ${runs[0]?.status} below`);
    }
    if (end?.outcome === "ok" || end?.outcome === "error")
      claim(
        tokensIn(below) === tokensIn([end]),
        "I16",
        () => `the child ${link.session} spent ${tokensIn(below)}, and ${tokensIn([end])} above`,
      );
    // An abort waits for a child no longer than its grace period.
    const isSettled = isOver && (end?.outcome === "ok" || end?.outcome === "error");
    checkLog(below, readLog(below), { claim: claimsInto(findings, link.session), isOver: isSettled });
    await checkTree({ world, session: link.session, facts: below, findings, isOver: isSettled });
  }
}

/** The sessions that name this one as their parent, from the store itself. */
async function childrenOf({ store: { truth }, scope }: World, session: string): Promise<readonly string[]> {
  const children = await truth.index.list(scope, { parent: session, limit: childrenMax });
  return children.map(({ id }) => id);
}

/** What the facts spent: model calls and children. */
function tokensIn(facts: readonly Fact[]): number {
  return facts.reduce((sum, fact) => {
    if (fact.type !== "model.finished" && fact.type !== "model.failed" && fact.type !== "child.finished") return sum;
    return sum + (fact.usage?.input ?? 0) + (fact.usage?.output ?? 0);
  }, 0);
}
