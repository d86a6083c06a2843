/*
 * Owns: what follows from a state alone. `facts` are certain and to be recorded now; `effects` are owed and to be prepared.
 * Invariants
 *  P1 pure and total; no clock: a date is an earlier fact's `at` plus a limit.
 *  P2 progress: a state that is not at rest either owes something here or has an effect under way.
 *  P3 an effect is owed until its intent is folded; its id derives from the state.
 */
import { planAbort } from "./cancellation.ts";
import { type Plan, restPlan } from "./effect.ts";
import { planFailure, planNextTurn, planOpenCall } from "./next-turn.ts";
import { planCalls } from "./pending-calls.ts";
import type { State } from "./state.ts";

/** What is to be recorded and done now. Facts first: fold them and plan again before effects are prepared. */
export function plan(state: State): Plan {
  if (state.status !== "open") return restPlan;
  const { run } = state;
  if (!run) {
    const [input] = state.inputs;
    return input ? { facts: [], effects: [{ type: "open-run", id: `${input.runId}/open`, input }] } : restPlan;
  }
  if (run.abort) return planAbort(run);
  if (run.open) return planOpenCall(run, run.open);
  if (run.calls.some((call) => call.state !== "done")) return planCalls(run);
  if (run.failure) return planFailure(run, run.failure);
  return planNextTurn(run, state.updatedAt ?? run.startedAt);
}
