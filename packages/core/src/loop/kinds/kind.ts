import type { DurableBody } from "../event.ts";
import type { FactOf, FactType } from "../fact.ts";
import type { State } from "../state.ts";

/** What one type of fact means. All three are pure. */
export interface FactKind<T extends FactType> {
  /** Whether the fact changes anything in this state: an open log, whose next fact it is. */
  readonly fits: (before: State, fact: FactOf<T>) => boolean;
  /** The state after it. Only called for a fact that fits. */
  readonly fold: (before: State, fact: FactOf<T>) => State;
  /** The durable events of it, in order. Only called for a fact that fits. Default: none. */
  readonly tell?: (before: State, fact: FactOf<T>) => readonly DurableBody[];
}

/** For facts that fit an open log in every state. */
export const always = (): boolean => true;
