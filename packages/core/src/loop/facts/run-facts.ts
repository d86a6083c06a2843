import type { Failure } from "../../errors.ts";
import type { JsonObject } from "../../message/json.ts";
import type { AssistantMessage, MessageId, StopReason } from "../../message/message.ts";
import type { RunLimits } from "./run-limits.ts";
import type { RunBudget } from "./run-options.ts";
import type { Hooked, KeyOwner, ModelChain, ModelLink, Spending } from "./spending.ts";
import type { CallRoute, ToolPolicies } from "./tool-policy.ts";

/** The timings of one model call, in milliseconds. */
export interface Timings {
  readonly totalMs: number;
  /** Until the first piece of content; absent for an unstreamed call. */
  readonly firstTokenMs?: number;
}

/** The verdict of the `decide` hooks on what follows a model call. */
export type Decision =
  /** The run ends; the calls of the answer do not run. */
  | { readonly action: "stop"; readonly reason?: string }
  /** The calls of the answer run, and no model call follows. */
  | { readonly action: "finish"; readonly reason?: string }
  /** One more turn, also if the answer has no calls. If a limit would end the run, the turn has no tools. Never more than `turnsMax`. */
  | { readonly action: "continue" }
  /** One more turn with this notice, also if the answer has no calls. */
  | { readonly action: "nudge"; readonly notice: string }
  /** The next model call must use this tool. */
  | { readonly action: "force"; readonly tool: string };

export interface RoutedCall {
  readonly callKey: string;
  readonly route: CallRoute;
}

export type RunStatus = "completed" | "aborted" | "failed";

/** Facts of runs and of their model calls. */
export type RunFact =
  | ({
      readonly type: "run.started";
      readonly runId: string;
      readonly agent: string;
      readonly agentDigest: string;
      readonly provider: string;
      readonly model: string;
      readonly tools: ToolPolicies;
      readonly limits: RunLimits;
      /** Absent: `provider` and `model` alone. */
      readonly chain?: ModelChain;
      /** How the history is cut to the context window. Read by the package that cuts it. */
      readonly context?: JsonObject;
      readonly budget?: RunBudget;
      /** True if calls of client tools pass the gates before they are sent to the client. */
      readonly gatesClient?: true;
    } & Hooked &
      Pick<Spending, "expenses">)
  | ({
      readonly type: "model.started";
      readonly runId: string;
      readonly turn: number;
      readonly attempt: number;
      readonly provider: string;
      readonly model: string;
      readonly requestDigest: string;
      /** The tools of this call, by value. Present only if they, or the code behind their names, differ from the list of `run.started`. */
      readonly tools?: ToolPolicies;
      /** Notices that join the history before this call. Only on the first attempt of a turn, or on the attempt that a limit made the last one. */
      readonly notices?: readonly string[];
      /** Index of the model in the chain of the run. Default 0. */
      readonly link?: number;
      readonly keyOwner?: KeyOwner;
      /** Id of the reservation in the usage ledger. */
      readonly reservation?: string;
      /**
       * The most that the call may spend, at the prices when it began. If its process dies, this amount is counted. Present only if the run or an account
       * has a limit, or the usage has a price. A cost of 0: the price was not known in time.
       */
      readonly expected?: Pick<Spending, "usage" | "cost">;
      /** The `traceparent` (W3C Trace Context) of the call. */
      readonly trace?: string;
      /** Only in logs of version 1, where an answer gets its id at its end. Later versions never write it. */
      readonly namedAtEnd?: true;
    } & Hooked &
      Pick<Spending, "expenses">)
  | ({
      readonly type: "model.finished";
      readonly runId: string;
      readonly turn: number;
      /** 0: no model was called, because a hook gave the answer. The id of its message is then the number of this fact. */
      readonly attempt: number;
      /** Its id is the number of the first `model.started` of its turn. */
      readonly message: AssistantMessage;
      /** Only in logs of version 1: the id of the message. Later versions never write it. */
      readonly messageId?: MessageId;
      readonly stopReason: StopReason;
      readonly calls: readonly RoutedCall[];
      readonly timings: Timings;
      readonly failure?: Failure;
      readonly decision?: Decision;
    } & Hooked &
      Spending)
  | ({
      readonly type: "model.failed";
      readonly runId: string;
      readonly turn: number;
      readonly attempt: number;
      readonly failure: Failure;
      /** The model of the next attempt, if it is another one. */
      readonly next?: ModelLink;
    } & Hooked &
      Spending)
  | {
      readonly type: "wait.scheduled";
      readonly runId: string;
      readonly turn: number;
      readonly attempt: number;
      readonly until: number;
      readonly reason: string;
    }
  | { readonly type: "abort.requested"; readonly runId: string; readonly reason: string; readonly by?: string }
  | {
      readonly type: "limit.reached";
      readonly runId: string;
      /** `turns`, `toolCalls`, `tokens`, `costUsd`, `durationMs`, or the name of a limit that a package brings. */
      readonly which: string;
      readonly value: number;
    }
  | ({
      readonly type: "run.finished";
      readonly runId: string;
      readonly status: RunStatus;
      readonly reason: string;
      readonly failure?: Failure;
    } & Hooked &
      Pick<Spending, "expenses">);
