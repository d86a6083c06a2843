/*
 * Owns: the fold of one run alone, from its input on. Of the rest of the log its events need only the message that the run continues, and a later state
 * has that message.
 * Why: the time for the events of one run then depends on that run, not on the length of its session.
 */
import { append, at, emptyList, lastWithKey } from "./append-list.ts";
import type { Fact, FactOf } from "./fact.ts";
import { fold } from "./fold.ts";
import { idOfInput } from "./fold-inputs.ts";
import { type Entry, emptyState, endOf, type State } from "./state.ts";

/** Seq of the input of the run; `undefined` if the state has no such run. Reads all inputs. */
export function bringerOf({ known }: State, runId: string): number | undefined {
  for (let place = 0; place < known.length; place++) {
    const input = at(known, place);
    // An input that came too late to steer has a run of its own under its own id.
    if (input?.runId === runId || input?.inputId === runId) return input.seq;
  }
  return undefined;
}

/** True if the run has begun; it may have ended. */
export const hasBegun = (state: State, runId: string): boolean => state.run?.runId === runId || endOf(state, runId) !== undefined;

/** The part of the state before the input of a run that the events of the run need. Shares no list with the later state. */
export function stateBeforeRun(later: State, runId: string, bringer: number): State {
  const parent = parentOf(later, runId);
  const base: State = { ...emptyState, seq: bringer - 1, status: "open" };
  return parent ? { ...base, history: append(emptyList<Entry>(), parent), head: 0 } : base;
}

/** The message that the first message of a run continues. */
function parentOf({ history, run }: State, runId: string): Entry | undefined {
  let first: Entry | undefined;
  for (let place = 0; first === undefined && place < history.length; place++) {
    const entry = at(history, place);
    if (entry?.runId === runId) first = entry;
  }
  if (first) return at(history, first.parent);
  return run?.runId === runId ? at(history, run.tip) : undefined;
}

/** True if the fold of the run needs the fact. `later`: a later state, which shows which of two inputs with one id counts. */
export function concernsRun(fact: Fact, runId: string, later: State): boolean {
  if (fact.type === "owner.claimed" || fact.type === "session.closed") return true;
  if (fact.type !== "input.accepted") return "runId" in fact && fact.runId === runId;
  const known = lastWithKey(later.known, fact.inputId, idOfInput);
  return (fact.runId === runId || fact.inputId === runId) && (known === undefined || known.seq === fact.seq);
}

/** The same fact; an input that a schedule sent is one like others, because the fold of one run has no schedules, which would refuse it. */
export function withoutSchedule(fact: Fact): Fact {
  const { origin, ...rest } = fact as FactOf<"input.accepted">;
  return origin?.type === "schedule" ? rest : fact;
}

/** The state after one more fact that concerns the run. Inputs of other runs are left out. */
export function foldRun(state: State, fact: Fact, runId: string): State {
  const next = fold(beforeFact(state, fact), fact);
  const inputs = next.inputs.filter((input) => input.runId === runId);
  return inputs.length < next.inputs.length ? { ...next, inputs } : next;
}

/**
 * The state right before the fact, after the facts of other runs were left out. An earlier run has started the child in the background whose report this run reads, so
 * the child is added here.
 */
export function beforeFact(state: State, fact: Fact): State {
  const before = state.seq === fact.seq - 1 ? state : { ...state, seq: fact.seq - 1 };
  if (fact.type !== "child.finished" || fact.callKey !== undefined || isKnownChild(state, fact)) return before;
  const { session, runId } = fact;
  return { ...before, background: [...(state.background ?? []), { runId, session, agent: "", key: "", round: 0, depthMax: 0 }] };
}

/** True also after the run, when no child is added to it. */
const isKnownChild = (state: State, { session, runId }: FactOf<"child.finished">): boolean =>
  [...(state.run?.children ?? []), ...(state.background ?? [])].some((child) => child.session === session) ||
  endOf(state, runId) !== undefined;
