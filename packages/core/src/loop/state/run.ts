import type { ErrorCode, Failure } from "../../errors.ts";
import type { JsonObject } from "../../message/json.ts";
import type { MessageId } from "../../message/message.ts";
import type { Cost, Usage } from "../../message/usage.ts";
import type { Access, Decision, FactOf, HookState, Labels, ModelChain, RunBudget, RunOptions, RunStatus } from "../fact.ts";
import type { RunLimits } from "../facts/run-limits.ts";
import type { ToolPolicies } from "../facts/tool-policy.ts";
import type { Call } from "./call.ts";
import type { KeyedChild } from "./children.ts";
import type { Abort, QueuedInput } from "./inputs.ts";

export interface ReachedLimit {
  /** `turns`, `toolCalls`, `tokens`, `costUsd`, `durationMs`, or the name of a limit that a package brings. */
  readonly which: string;
  readonly value: number;
}

/** A running model call. */
export interface OpenCall {
  /** Seq of its `model.started`: the lane of its events. */
  readonly lane: number;
  readonly turn: number;
  readonly attempt: number;
  readonly inDoubt: boolean;
  /** The most that the call may spend, if that is limited. */
  readonly expected?: FactOf<"model.started">["expected"];
}

/** A model call for a summary. */
export interface OpenSummary extends Pick<FactOf<"summary.started">, "provider" | "model" | "expected"> {
  readonly inDoubt: boolean;
}

/** A failed attempt with one model of the chain. */
export interface FailedLink {
  readonly provider: string;
  readonly model: string;
  readonly code: ErrorCode;
}

export interface Run {
  readonly runId: string;
  readonly inputId: string;
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
  readonly tools: ToolPolicies;
  /** The tools of the last model call, if they differ from `tools`. */
  readonly shown?: ToolPolicies;
  readonly limits: RunLimits;
  /** True if calls of client tools pass the gates before they are sent to the client. */
  readonly gatesClient?: true;
  /** The state that hooks keep for this run. */
  readonly hookState?: HookState;
  /** `hookState` when the last model call was prepared, if the tools of that call differ from `tools`. */
  readonly shownState?: HookState;
  readonly access?: Access;
  readonly options?: RunOptions;
  readonly labels?: Labels;
  readonly trace?: string;
  readonly chain?: ModelChain;
  /** Index of the current model in the chain. Absent: 0. */
  readonly link?: number;
  /** The number of attempts of the open turn that used earlier models of the chain. */
  readonly linkSince?: number;
  /** The attempts of the turn that have failed, if the run has a chain. */
  readonly failed?: readonly FailedLink[];
  readonly context?: JsonObject;
  readonly budget?: RunBudget;
  /** Sessions that user code of the run has begun. */
  readonly children?: readonly KeyedChild[];
  /** The number of consecutive runs, this one included, that reports of children have started. Absent: 0. */
  readonly round?: number;
  /** The part of the usage of this run that an earlier run has reserved in its own budget. */
  readonly prepaid?: QueuedInput["spent"];
  /** The schedule that created the input of the run. */
  readonly schedule?: string;
  readonly startedAt: number;
  /** How long the run has waited for people, clients and children. Only counted if the run has a time limit. */
  readonly restedMs?: number;
  /** The answer of a hook, given before the run began. */
  readonly answer?: string;
  /** Index of the message that the next message continues. */
  readonly tip: number;
  /** Turns begun; `attempt`: attempts begun of the last turn. */
  readonly turn: number;
  readonly attempt: number;
  readonly open?: OpenCall;
  /** The summary that is being made before the next model call. */
  readonly summary?: OpenSummary;
  /** Id of the answer of the last turn: the number of its first `model.started`. */
  readonly answerId?: MessageId;
  /** The number of attempts of the last turn that ended in a hand-over to another process. They do not count towards `attemptsMax`. */
  readonly handedOver?: number;
  /** The turn whose request was repeated without thinking, which happens at most once per turn. */
  readonly repairedTurn?: number;
  /** The last attempt was discarded and another one must follow; `until` is present if the wait before it is scheduled. */
  readonly retry?: { readonly failure: Failure; readonly until?: number };
  /** Inputs that join before the next model call. */
  readonly steered: readonly QueuedInput[];
  readonly calls: readonly Call[];
  /** The time of the calls, from which their deadlines count. */
  readonly calledAt: number;
  /** The number of calls that count against the limit. */
  readonly toolCallCount: number;
  /** The limit that was reached after `turn`: at most one more model call follows, without tools. */
  readonly limit?: ReachedLimit & { readonly turn: number };
  readonly decision?: Decision;
  readonly abort?: Abort;
  /** Why the run cannot continue. */
  readonly failure?: Failure;
  /** True if the last answer had no calls. */
  readonly answered: boolean;
  /** Why the last model call ended. */
  readonly stopReason?: "stop" | "length" | "tool_calls" | "aborted" | "error";
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** The message that the next input continues, if a `head.moved` during this run changed it. */
  readonly movedHead?: number;
}

/** How a run ended. */
export interface EndedRun {
  readonly runId: string;
  readonly status: RunStatus;
  readonly reason: string;
  readonly failure?: Failure;
  readonly limit?: ReachedLimit;
  /** Of a child: the tool calls that count against the limit. Absent: none. */
  readonly toolCallCount?: number;
  readonly usage?: Usage;
  readonly cost?: Cost;
}
