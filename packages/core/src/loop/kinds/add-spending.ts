import { addSpent, allSpent } from "../../message/usage.ts";
import type { Fact, Spending } from "../fact.ts";
import type { State } from "../state.ts";

/** The state with the usage and the cost of the fact, also in the open run if the fact belongs to it. Tokens without a known price make a sum partial. */
export function spend(state: State, fact: Fact): State {
  const { usage, cost, expenses } = fact as Spending;
  if (!usage && !cost && !expenses) return state;
  const spent = allSpent([{ usage, cost }, ...(expenses ?? [])]);
  const isOfRun = state.run !== undefined && "runId" in fact && fact.runId === state.run.runId;
  return { ...state, ...addSpent(state, spent), ...(isOfRun && state.run ? { run: { ...state.run, ...addSpent(state.run, spent) } } : {}) };
}
