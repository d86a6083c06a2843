import type { DurableBody, DurableEvent } from "../loop/event.ts";
import { eventsOf } from "../loop/events-of.ts";
import { type Fact, type FactBody, factVersion } from "../loop/fact.ts";
import { fold } from "../loop/fold.ts";
import type { State } from "../loop/state.ts";
import { weigh } from "../message/json-bytes.ts";

/**
 * A batch in the making: facts folded into a state that nobody else sees until the log has them. Dropping it is forgetting it.
 */
export interface Speculation {
  /** Seq of the state it began with. */
  readonly from: number;
  readonly state: State;
  readonly facts: readonly Fact[];
  readonly events: readonly DurableEvent[];
  /** An upper bound of the batch's bytes. */
  readonly bytes: number;
  /** Folds one more fact; one that changes nothing is left out, and the answer is `undefined`. */
  add(body: FactBody): Fact | undefined;
}

export function speculate(
  from: State,
  { sessionId, now, epoch }: { readonly sessionId: string; readonly now: number; readonly epoch: number | undefined },
): Speculation {
  const facts: Fact[] = [];
  const events: DurableEvent[] = [];
  let state = from;
  let bytes = 0;
  return {
    from: from.seq,
    get state() {
      return state;
    },
    facts,
    events,
    get bytes() {
      return bytes;
    },
    add(body) {
      const fact: Fact = { ...body, seq: state.seq + 1, at: now, v: factVersion, ...(epoch === undefined ? {} : { epoch }) };
      const told = eventsOf(state, fact);
      const next = fold(state, fact);
      if (isUnchanged(state, next) && told.length === 0) return undefined;
      state = next;
      facts.push(fact);
      bytes += weigh(body);
      for (const event of durableEvents(fact, told, sessionId)) events.push(event);
      return fact;
    },
  };
}

/** Folds what others have appended. */
export function catchUp(
  from: State,
  facts: readonly Fact[],
  sessionId: string,
): { readonly state: State; readonly events: readonly DurableEvent[] } {
  const events: DurableEvent[] = [];
  let state = from;
  for (const fact of facts) {
    events.push(...durableEvents(fact, eventsOf(state, fact), sessionId));
    state = fold(state, fact);
  }
  return { state, events };
}

/** Writes into the bodies, which were made for this. */
function durableEvents(fact: Fact, bodies: readonly DurableBody[], sessionId: string): readonly DurableEvent[] {
  const { seq, at } = fact;
  const place = "runId" in fact ? { at, sessionId, runId: fact.runId } : { at, sessionId };
  return bodies.map((body, k) => Object.assign(body, { seq, k }, place));
}

function isUnchanged(before: State, after: State): boolean {
  for (const key in after)
    if (before[key as keyof State] !== after[key as keyof State] && key !== "seq" && key !== "updatedAt") return false;
  for (const key in before) if (!(key in after)) return false;
  return true;
}
