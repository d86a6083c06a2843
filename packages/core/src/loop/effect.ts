import type { Failure } from "../errors.ts";
import type { FactBody } from "./fact.ts";
import type { BackgroundChild, Call, KeyedChild, QueuedInput } from "./state.ts";

/** An action outside the loop. Its id derives from the state, so that a second fold of the log gives the same id. */
export type Effect =
  /** Start the run of the input. */
  | { readonly type: "open-run"; readonly id: string; readonly input: QueuedInput }
  | {
      readonly type: "call-model";
      readonly id: string;
      readonly runId: string;
      readonly turn: number;
      readonly attempt: number;
      /** The earliest start, in milliseconds since the epoch. */
      readonly notBefore?: number;
      /** False when a limit took the tools away. */
      readonly withTools: boolean;
      /** The tool that must be used. */
      readonly force?: string;
      readonly notices: readonly string[];
    }
  /** Choose the wait before the next attempt. */
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
  /** Call the gates for the calls of client tools. */
  | { readonly type: "gate-calls"; readonly id: string; readonly runId: string; readonly turn: number; readonly calls: readonly Call[] }
  /** Stop a child of a run that is being stopped, and record the end of the child. */
  | { readonly type: "stop-child"; readonly id: string; readonly runId: string; readonly child: KeyedChild }
  /** Give a child in the background its input. */
  | { readonly type: "start-child"; readonly id: string; readonly runId: string; readonly child: BackgroundChild }
  /** Call the tool's `lookup` for a call with an unknown outcome. */
  | { readonly type: "lookup-tool"; readonly id: string; readonly runId: string; readonly call: Call };

/** What follows from a state: facts to record, and effects to run. */
export interface Plan {
  readonly facts: readonly FactBody[];
  readonly effects: readonly Effect[];
}

/** No facts and no effects. */
export const restPlan: Plan = { facts: [], effects: [] };
