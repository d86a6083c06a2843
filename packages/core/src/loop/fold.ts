/*
 * Owns: the step from one state to the next. Does not own: the meaning of a type of fact (kinds), what follows from a state (plan).
 * Invariants
 *  I1 total: every fact is legal in every state; a fact that does not fit changes only `seq`, and a fact with the wrong `seq` changes nothing.
 *  I2 pure: no clock, no randomness; older versions of the state keep their value.
 *  I3 constant: the cost does not depend on the length of the history.
 */

import type { Fact, Hooked } from "./fact.ts";
import { mergedHookState } from "./facts/hook-verdicts.ts";
import { spend } from "./kinds/add-spending.ts";
import { fits, kindOf } from "./kinds/fact-kinds.ts";
import { isAtRest, type State } from "./state.ts";

/** Version of the fold. It must be raised when any log folds to another state than before, because snapshots of other versions are not used. */
export const foldVersion = 13;

/** The state after one more fact. */
export function fold(state: State, fact: Fact): State {
  if (fact.seq !== state.seq + 1) return state;
  const next = trackOwnerLoss(state, fits(state, fact) ? apply(state, fact) : state, fact);
  const numbers = { seq: fact.seq, updatedAt: fact.at };
  // A state that was created for this fact has no other reader yet, so it is changed in place.
  return next === state ? { ...state, ...numbers } : Object.assign(next, numbers);
}

/** The state after many facts, oldest first. */
export function foldAll(state: State, facts: readonly Fact[]): State {
  return facts.reduce(fold, state);
}

function apply(state: State, fact: Fact): State {
  const next = kindOf(fact).fold(withRest(spend(state, fact), fact), fact);
  const { hookState } = fact as Hooked;
  // The state that hooks keep with an input belongs to its run, which may not have begun yet.
  if (!hookState || !next.run || fact.type === "input.accepted") return next;
  return { ...next, run: { ...next.run, hookState: mergedHookState(next.run.hookState, hookState) } };
}

/** Adds the time that the open run was at rest, which does not count against its time limit. */
function withRest(state: State, { at }: Fact): State {
  const { run, updatedAt = at } = state;
  if (!run || run.limits.durationMs <= 0 || at <= updatedAt || !isAtRest(state)) return state;
  return { ...state, run: { ...run, restedMs: (run.restedMs ?? 0) + at - updatedAt } };
}

/**
 * The state after a fact, with the mark that an owner was lost. A claim of a session that no owner has continued since it rested is a normal beginning:
 * no owner has died.
 */
function trackOwnerLoss(before: State, after: State, fact: Fact): State {
  const { attended } = after;
  if (fact.epoch === undefined && !attended) return after;
  if (isAtRest(after)) return attended ? unattended(after) : after;
  if (!attended) return { ...after, attended: {} };
  return fact.type === "owner.claimed" && after.epoch > before.epoch ? { ...after, attended: { takenOverSeq: fact.seq } } : after;
}

/** Copies the whole state only if the mark changes, because this runs for every fact. */
function unattended({ attended: _, ...rest }: State): State {
  return rest;
}
