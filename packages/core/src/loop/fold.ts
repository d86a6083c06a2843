/*
 * Owns: the way from one state to the next. Does not own: what a type of fact means (kinds), what follows from a state (plan).
 * Invariants
 *  I1 total: every fact is legal in every state; one that does not fit changes nothing but `seq`, one with the wrong `seq` nothing at all.
 *  I2 pure: no clock, no randomness; older versions of the state keep their value.
 *  I3 constant: the cost does not depend on the length of the history.
 */

import type { Fact, Hooked } from "./fact.ts";
import { fits, kindOf } from "./kinds/fact-kinds.ts";
import { spend } from "./kinds/spend.ts";
import { trackOwnerLoss } from "./lost-owners.ts";
import { isAtRest, type State } from "./state.ts";

/** Version of what a log folds to. To be raised when any log folds to another state than before: snapshots of other versions are not used. */
export const foldVersion = 6;

/** The state after one more fact. */
export function fold(state: State, fact: Fact): State {
  if (fact.seq !== state.seq + 1) return state;
  const next = trackOwnerLoss(state, fits(state, fact) ? apply(state, fact) : state, fact);
  const numbers = { seq: fact.seq, updatedAt: fact.at };
  // A state that was created for this fact has no other reader yet: a second copy would be wasted.
  return next === state ? { ...state, ...numbers } : Object.assign(next, numbers);
}

/** The state after many facts, oldest first. */
export function foldAll(state: State, facts: readonly Fact[]): State {
  return facts.reduce(fold, state);
}

function apply(state: State, fact: Fact): State {
  const next = kindOf(fact).fold(withRest(spend(state, fact), fact), fact);
  const { hookState } = fact as Hooked;
  // What hooks keep of an input is for its run, which may have yet to begin.
  if (!hookState || !next.run || fact.type === "input.accepted") return next;
  return { ...next, run: { ...next.run, hookState: { ...next.run.hookState, ...hookState } } };
}

/** The time that the open run was at rest does not count against its limit of time. */
function withRest(state: State, { at }: Fact): State {
  const { run, updatedAt = at } = state;
  if (!run || run.limits.durationMs <= 0 || at <= updatedAt || !isAtRest(state)) return state;
  return { ...state, run: { ...run, restedMs: (run.restedMs ?? 0) + at - updatedAt } };
}
