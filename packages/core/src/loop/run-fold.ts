/*
 * Owns: the fold of one run alone, from the fact that brought it: what its events need of the rest of the log is the message that it continues,
 * and a later state identifies that one.
 * Why: the events of one run then cost that run, however long its session is.
 */
import { append, at, emptyList, lastWithKey } from "./append-list.ts";
import type { Fact } from "./fact.ts";
import { fold } from "./fold.ts";
import { idOfInput } from "./inputs.ts";
import { type Entry, emptyState, endOf, type State } from "./state.ts";

/** Seq of the input that brought the run; `undefined` where the state knows no such run. The cost is the number of inputs. */
export function bringerOf({ known }: State, runId: string): number | undefined {
  for (let place = 0; place < known.length; place++) {
    const input = at(known, place);
    // What came too late to steer has a run of its own under its id.
    if (input?.runId === runId || input?.inputId === runId) return input.seq;
  }
  return undefined;
}

/** Whether the run has begun, and may have ended. */
export const hasBegun = (state: State, runId: string): boolean => state.run?.runId === runId || endOf(state, runId) !== undefined;

/** The state before the input of a run that has begun since, as far as the events of the run follow from it. Shares no list with the later state. */
export function stateBeforeRun(later: State, runId: string, bringer: number): State {
  const parent = parentOf(later, runId);
  const base: State = { ...emptyState, seq: bringer - 1, status: "open" };
  return parent ? { ...base, history: append(emptyList<Entry>(), parent), head: 0 } : base;
}

/** The message that the first one of a run continues. */
function parentOf({ history, run }: State, runId: string): Entry | undefined {
  let first: Entry | undefined;
  for (let place = 0; first === undefined && place < history.length; place++) {
    const entry = at(history, place);
    if (entry?.runId === runId) first = entry;
  }
  if (first) return at(history, first.parent);
  return run?.runId === runId ? at(history, run.tip) : undefined;
}

/** Whether the fold of the run needs the fact. `later`: which of two inputs of one id is the one that counts. */
export function concernsRun(fact: Fact, runId: string, later: State): boolean {
  if (fact.type === "owner.claimed" || fact.type === "session.closed") return true;
  if (fact.type !== "input.accepted") return "runId" in fact && fact.runId === runId;
  const known = lastWithKey(later.known, fact.inputId, idOfInput);
  return (fact.runId === runId || fact.inputId === runId) && (known === undefined || known.seq === fact.seq);
}

/** The state after one more fact that concerns the run. Other runs do not wait before it. */
export function foldRun(state: State, fact: Fact, runId: string): State {
  const next = fold(beforeFact(state, fact), fact);
  return next.inputs.some((input) => input.runId !== runId)
    ? { ...next, inputs: next.inputs.filter((input) => input.runId === runId) }
    : next;
}

/** The state that the fact follows: facts of others were left out. */
export const beforeFact = (state: State, { seq }: Fact): State => (state.seq === seq - 1 ? state : { ...state, seq: seq - 1 });
