import type { DurableBody } from "../event.ts";
import type { FactOf, FactType } from "../fact.ts";
import type { State } from "../state.ts";

/** The meaning of one type of fact. All three functions are pure. */
export interface FactKind<T extends FactType> {
  /** True if the fact changes this state. The log is open, and the fact is its next one. */
  readonly fits: (before: State, fact: FactOf<T>) => boolean;
  /** The state after the fact. Only called for a fact that fits. */
  readonly fold: (before: State, fact: FactOf<T>) => State;
  /** The durable events of the fact, in order. Only called for a fact that fits. Default: none. */
  readonly publish?: (before: State, fact: FactOf<T>) => readonly DurableBody[];
}

/** For facts that fit an open log in every state. */
export const always = (): boolean => true;
