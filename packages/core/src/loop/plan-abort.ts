import type { Effect, Plan } from "./effect.ts";
import type { FactBody } from "./fact.ts";
import { crashed } from "./plan-next-turn.ts";
import { childStopped, interrupted, notRun } from "./results-without-run.ts";
import type { Call, KeyedChild, Run, State } from "./state.ts";

/**
 * Calls that have not started end as aborted, and calls with an unknown outcome as interrupted. The driver signals running effects, and waits for their
 * closing facts. The run ends after the last one.
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
  const children = childrenToStop(run);
  const isOver = !open && children.length === 0 && run.calls.every((call: Call) => call.state === "done");
  if (isOver) facts.push({ type: "run.finished", runId, status: "aborted", reason: abort?.reason ?? "aborted" });
  return { facts, effects: facts.length > 0 ? [] : stopsOf(run, children) };
}

/**
 * The plan of a run whose calls have ended. Open children of calls are stopped first, those of hooks before the end, so that the run counts what they spent.
 */
export function afterChildren(run: Run, planned: Plan): Plan {
  const isOver = planned.facts.some(({ type }) => type === "run.finished");
  const left = childrenToStop(run).filter(({ callKey }) => isOver || callKey !== undefined);
  return left.length > 0 ? { facts: [], effects: stopsOf(run, left) } : planned;
}

/** The children that are stopped before a run ends, because a hook or a ledger has ended it. */
export const stopsBeforeEnd = ({ run }: State): readonly Effect[] => (run ? stopsOf(run, childrenToStop(run)) : []);

const stopsOf = ({ runId }: Run, children: readonly KeyedChild[]): readonly Effect[] =>
  children.map((child): Effect => ({ type: "stop-child", id: `${child.session}/stop`, runId, child }));

/** The open children whose call does not run: a running tool stops its own children. */
function childrenToStop({ children = [], calls }: Run): readonly KeyedChild[] {
  const isRunning = ({ callKey }: KeyedChild): boolean =>
    calls.some(({ part, state, inDoubt }) => part.callKey === callKey && state === "running" && !inDoubt);
  return children.filter((child) => !child.isDone && !child.background && !isRunning(child));
}
