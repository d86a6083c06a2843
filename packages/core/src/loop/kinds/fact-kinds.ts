/*
 * Owns: the meaning of each type of fact: when it fits a state, the state after it, and its events. A new fact needs a declaration (facts/), an entry
 * here, and a place in the order of events (core/README, read by testing/events).
 */
import type { Fact, FactType } from "../fact.ts";
import type { State } from "../state.ts";
import {
  approvalDecided,
  approvalRequested,
  childFinished,
  childLinked,
  childWaiting,
  clientAnswered,
  clientRequested,
  toolFinished,
  toolStarted,
} from "./call-kinds.ts";
import type { FactKind } from "./fact-kind.ts";
import {
  abortRequested,
  inputAccepted,
  limitReached,
  modelFailed,
  modelFinished,
  modelStarted,
  runFinished,
  runStarted,
  waitScheduled,
} from "./run-kinds.ts";
import {
  contextCompacted,
  headMoved,
  holdChanged,
  noteRecorded,
  ownerClaimed,
  scheduleCleared,
  scheduleSet,
  sessionChanged,
  sessionClosed,
  sessionOpened,
  summaryFailed,
  summaryStarted,
} from "./session-kinds.ts";

export const factKinds: { readonly [T in FactType]: FactKind<T> } = {
  "session.opened": sessionOpened,
  "session.changed": sessionChanged,
  "session.closed": sessionClosed,
  "input.accepted": inputAccepted,
  "head.moved": headMoved,
  "owner.claimed": ownerClaimed,
  "run.started": runStarted,
  "model.started": modelStarted,
  "model.finished": modelFinished,
  "model.failed": modelFailed,
  "wait.scheduled": waitScheduled,
  "tool.started": toolStarted,
  "tool.finished": toolFinished,
  "client.requested": clientRequested,
  "client.answered": clientAnswered,
  "approval.requested": approvalRequested,
  "approval.decided": approvalDecided,
  "child.linked": childLinked,
  "child.waiting": childWaiting,
  "child.finished": childFinished,
  "abort.requested": abortRequested,
  "limit.reached": limitReached,
  "context.compacted": contextCompacted,
  "summary.started": summaryStarted,
  "summary.failed": summaryFailed,
  "schedule.set": scheduleSet,
  "schedule.cleared": scheduleCleared,
  "hold.changed": holdChanged,
  "note.recorded": noteRecorded,
  "run.finished": runFinished,
};

/** True if this build knows the type. */
export const isKnownType = (type: string): type is FactType => Object.hasOwn(factKinds, type);

/** The meaning of a fact's type. */
export const kindOf = (fact: Fact): FactKind<FactType> => factKinds[fact.type] as FactKind<FactType>;

/** True if the fact is the next one of the log and changes something. A fact that does not fit is legal, and gives no events. */
export function fits(before: State, fact: Fact): boolean {
  return fact.seq === before.seq + 1 && before.status !== "closed" && kindOf(fact).fits(before, fact);
}
