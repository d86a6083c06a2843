import type { Fact } from "@loopwright/core";
import type { Effect, State } from "@loopwright/core/internals";

/** What is simulated. */
export interface SimulationOptions {
  /** Random actions before the world calms down. Default 60. */
  readonly steps?: number;
  /** Commands, crashes and forged facts. Default true; without them only the order is random. */
  readonly disturbed?: boolean;
  /** Decides the order; default: the scenario's seed. */
  readonly orderSeed?: number;
  /** More calls become children, which ask people and clients, and paths are compacted. Default false. */
  readonly isWide?: boolean;
}

/** A simulated session, fact by fact. */
export interface Simulation {
  readonly facts: readonly Fact[];
  /** `states[i]` is the state after `i` facts. */
  readonly states: readonly State[];
  /** Ids of all effects launched, in order. */
  readonly launched: readonly string[];
  /** The state when each model call went out. */
  readonly asked: readonly State[];
  /** The model calls, at the same places. */
  readonly calls: readonly ModelCallEffect[];
  /** True when the world was calm and the session rested at the end. */
  readonly isResting: boolean;
}

/** A model call that is owed. */
export type ModelCallEffect = Extract<Effect, { readonly type: "call-model" }>;
