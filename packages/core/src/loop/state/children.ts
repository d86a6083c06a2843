import type { UserMessage } from "../../message/message.ts";
import type { Access, FactOf, Labels, RunBudget, WaitingCall } from "../fact.ts";

/** A session that user code of a run has started, and finds again by its key. */
export interface KeyedChild {
  readonly key: string;
  readonly callKey?: string;
  readonly session: string;
  readonly agent: string;
  readonly budget?: RunBudget;
  /** The calls of the child and of its children that wait for people and clients. */
  readonly waits?: readonly WaitingCall[];
  /** The answers that were given at this session since the child last rested. */
  readonly answers?: readonly (FactOf<"approval.decided"> | FactOf<"client.answered">)[];
  readonly isDone?: true;
  readonly background?: true;
}

/** A child that outlives its run. Its end is not recorded yet. */
export interface BackgroundChild {
  readonly runId: string;
  readonly callKey?: string;
  readonly key: string;
  readonly session: string;
  readonly agent: string;
  readonly budget?: RunBudget;
  readonly depthMax: number;
  readonly access?: Access;
  readonly labels?: Labels;
  /** The number of consecutive runs that reports have started, up to that of this child. */
  readonly round: number;
  /** The input of the child; absent once the child has it. */
  readonly input?: UserMessage;
}
