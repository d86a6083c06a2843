import type { Failure } from "../errors.ts";
import type { FactBody } from "./fact.ts";
import type { Call, QueuedInput } from "./state.ts";

/** What the world is asked to do. Ids derive from the state, so a second fold of the log asks under the same id. */
export type Effect =
  /** Give the input a run: policies of the agent by value. */
  | { readonly type: "open-run"; readonly id: string; readonly input: QueuedInput }
  | {
      readonly type: "call-model";
      readonly id: string;
      readonly runId: string;
      readonly turn: number;
      readonly attempt: number;
      /** Not before this moment, milliseconds since the epoch. */
      readonly notBefore?: number;
      /** False when a limit took the tools away. */
      readonly withTools: boolean;
      /** The tool that must be used. */
      readonly force?: string;
      readonly notices: readonly string[];
    }
  /** Draw the wait before the next attempt. */
  | {
      readonly type: "schedule-retry";
      readonly id: string;
      readonly runId: string;
      readonly turn: number;
      readonly attempt: number;
      readonly failure: Failure;
    }
  | {
      readonly type: "run-tool";
      readonly id: string;
      readonly runId: string;
      readonly turn: number;
      readonly attempt: number;
      readonly call: Call;
    }
  /** Ask the gates about the calls of client tools. */
  | { readonly type: "gate-calls"; readonly id: string; readonly runId: string; readonly turn: number; readonly calls: readonly Call[] }
  /** Ask the tool what became of a call in doubt. */
  | { readonly type: "lookup-tool"; readonly id: string; readonly runId: string; readonly call: Call };

/** What follows from a state: facts that are certain, and effects that are owed. */
export interface Plan {
  readonly facts: readonly FactBody[];
  readonly effects: readonly Effect[];
}

/** Nothing follows and nothing is owed. */
export const restPlan: Plan = { facts: [], effects: [] };
