/*
 * Owns: what follows from a state alone. `facts` must be recorded now; `effects` must be prepared and then run.
 * Invariants
 *  P1 pure and total; no clock: a date is an earlier fact's `at` plus a limit.
 *  P2 progress: a state that is not at rest has facts or effects in its plan, or a running effect.
 *  P3 an effect is planned until its intent is folded; its id derives from the state.
 */

import { planCalls } from "./calls-to-start.ts";
import { startsOwed } from "./children/background-children.ts";
import { type Plan, restPlan } from "./effect.ts";
import { lostSummary } from "./fold-summary-calls.ts";
import { afterChildren, planAbort } from "./plan-abort.ts";
import { planFailure, planNextTurn, planOpenCall } from "./plan-next-turn.ts";
import type { State } from "./state.ts";

/** The facts to record and the effects to run now. Facts come first: fold them and plan again before effects are prepared. */
export function plan(state: State): Plan {
  if (state.status !== "open") return restPlan;
  const planned = planRun(state);
  if (!state.background || planned.facts.length > 0) return planned;
  const starts = startsOwed(state);
  return starts.length > 0 ? { facts: [], effects: [...starts, ...planned.effects] } : planned;
}

function planRun(state: State): Plan {
  const { run } = state;
  if (!run) {
    const [input] = state.inputs;
    return input ? { facts: [], effects: [{ type: "open-run", id: `${input.runId}/open`, input }] } : restPlan;
  }
  if (run.summary && (run.summary.inDoubt || run.abort)) return { facts: [lostSummary(run.runId, run.summary)], effects: [] };
  if (run.abort) return planAbort(run);
  if (run.open) return planOpenCall(run, run.open);
  const now = state.updatedAt ?? run.startedAt;
  if (run.calls.some((call) => call.state !== "done")) return planCalls(run, now);
  return afterChildren(run, run.failure ? planFailure(run, run.failure, now) : planNextTurn(run, now));
}
