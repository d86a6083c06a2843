import type { DurableBody, DurableEvent } from "../../loop/event.ts";
import { eventsOf } from "../../loop/events-of.ts";
import type { Fact } from "../../loop/fact.ts";
import { fold } from "../../loop/fold.ts";
import type { State } from "../../loop/state.ts";

/** Folds facts that were read from the log, and computes their durable events. */
export function foldReadFacts(
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

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** The durable events of a fact. Adds seq, `k`, date, session and run to `bodies` in place: the caller must not use `bodies` afterwards. */
export function durableEvents(fact: Fact, bodies: readonly DurableBody[], sessionId: string): readonly DurableEvent[] {
  for (let k = 0; k < bodies.length; k++) {
    const event = bodies[k] as Writable<DurableEvent>;
    event.seq = fact.seq;
    event.k = k;
    event.at = fact.at;
    event.sessionId = sessionId;
    if ("runId" in fact) event.runId = fact.runId;
  }
  return bodies as readonly DurableEvent[];
}
