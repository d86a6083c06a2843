/*
 * Owns: the way from one state to the next. Does not own: what follows from a state (plan), the events that subscribers receive (events-of).
 * Invariants
 *  I1 total: every fact is legal in every state; one that does not fit changes nothing but `seq`, one with the wrong `seq` nothing at all.
 *  I2 pure: no clock, no randomness; older versions of the state keep their value.
 *  I3 constant: the cost does not depend on the length of the history.
 */
import { attend } from "./attendance.ts";
import { foldApprovalDecision, foldApprovalRequest, foldChild, foldClient, foldToolFinished, foldToolStarted } from "./calls.ts";
import type { Fact } from "./fact.ts";
import { foldClosed, foldHead, foldInput, foldOpened } from "./inputs.ts";
import type { State } from "./state.ts";
import {
  foldAbort,
  foldClaim,
  foldLimit,
  foldModelFailed,
  foldModelFinished,
  foldModelStarted,
  foldRunFinished,
  foldRunStarted,
  foldWait,
} from "./turns.ts";

/** Version of what a log folds to. To be raised when any log folds to another state than before: snapshots of other versions are not used. */
export const foldVersion = 5;

/** The state after one more fact. */
export function fold(state: State, fact: Fact): State {
  if (fact.seq !== state.seq + 1) return state;
  const next = attend(state, apply(state, fact), fact);
  const numbers = { seq: fact.seq, updatedAt: fact.at };
  // A state that was created for this fact has no other reader yet: a second copy would be wasted.
  return next === state ? { ...state, ...numbers } : Object.assign(next, numbers);
}

/** The state after many facts, oldest first. */
export function foldAll(state: State, facts: readonly Fact[]): State {
  return facts.reduce(fold, state);
}

function apply(state: State, fact: Fact): State {
  if (state.status === "closed") return state;
  switch (fact.type) {
    case "session.opened":
      return foldOpened(state, fact);
    case "session.changed":
      return {
        ...state,
        ...(fact.title === undefined ? {} : { title: fact.title }),
        ...(fact.metadata ? { metadata: fact.metadata } : {}),
      };
    case "session.closed":
      return foldClosed(state);
    case "input.accepted":
      return foldInput(state, fact);
    case "head.moved":
      return foldHead(state, fact);
    case "context.compacted":
      return { ...state, compactions: [...state.compactions, { from: fact.from, to: fact.to, summary: fact.summary }] };
    case "owner.claimed":
      return foldClaim(state, fact);
    case "run.started":
      return foldRunStarted(state, fact);
    case "model.started":
      return foldModelStarted(state, fact);
    case "model.finished":
      return foldModelFinished(state, fact);
    case "model.failed":
      return foldModelFailed(state, fact);
    case "wait.scheduled":
      return foldWait(state, fact);
    case "tool.started":
      return foldToolStarted(state, fact);
    case "tool.finished":
      return foldToolFinished(state, fact);
    case "client.requested":
    case "client.answered":
      return foldClient(state, fact);
    case "approval.requested":
      return foldApprovalRequest(state, fact);
    case "approval.decided":
      return foldApprovalDecision(state, fact);
    case "child.linked":
      return foldChild(state, fact);
    case "abort.requested":
      return foldAbort(state, fact);
    case "limit.reached":
      return foldLimit(state, fact);
    case "run.finished":
      return foldRunFinished(state, fact);
    default:
      return fact satisfies never;
  }
}
