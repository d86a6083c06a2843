import type { Failure } from "../errors.ts";
import type { ToolCallPart } from "../message/content.ts";
import type { JsonObject } from "../message/json.ts";
import type { Message, MessageId, UserMessage } from "../message/message.ts";
import type { Cost, Usage } from "../message/usage.ts";
import { type AppendList, at, emptyList, findLastIndex } from "./append-list.ts";
import type { Access, ApprovalVerdict, Decision, DeclaredTool, RunOptions, RunStatus } from "./fact.ts";
import type { CallRoute, RunLimits, ToolPolicies } from "./policy.ts";

/** One message of the tree of messages. */
export interface Entry {
  readonly id: MessageId;
  /** Place of the message it continues; -1: it begins a conversation. */
  readonly parent: number;
  readonly message: Message;
  /** Absent for what the session began with. */
  readonly runId?: string;
  /** When it joined the conversation, milliseconds since the epoch. */
  readonly at: number;
  /** Idempotency key under which a client sent it: for results of client calls. */
  readonly key?: string;
  /** Of a tool result: what models read in place of its content once its run is over. */
  readonly summary?: string;
}

/** An input that waits: for a run of its own, or to join the open one. */
export interface QueuedInput {
  readonly seq: number;
  readonly inputId: string;
  readonly runId: string;
  /** It comes before those that do not. */
  readonly jumps?: true;
  readonly message?: UserMessage;
  readonly parent?: MessageId | null;
  readonly access?: Access;
  readonly options?: RunOptions;
  /** Asked to stop before it began: its run ends as soon as it starts. */
  readonly abort?: Abort;
}

export interface Abort {
  readonly reason: string;
  readonly by?: string;
  readonly at: number;
}

/** An input that was accepted, so that neither it nor its key is accepted twice. */
export interface KnownInput {
  readonly key?: string;
  /** Absent where a build wrote the input that knew no digests. */
  readonly keyedDigest?: string;
  readonly inputId: string;
  readonly runId: string;
  readonly seq: number;
  readonly message?: UserMessage;
  readonly parent?: MessageId | null;
}

/** A decision that was recorded, so that none is made twice and an equal one finds the first. */
export interface KnownDecision {
  readonly callKey: string;
  readonly runId: string;
  readonly seq: number;
  readonly at: number;
  readonly decision: ApprovalVerdict;
  readonly key?: string;
  readonly argsDigest?: string;
  readonly by?: string;
  readonly args?: JsonObject;
  readonly note?: string;
}

/** Where one call of the turn stands. `owed`: nothing was done; `settled`: it has its one result. */
export type CallStage = "owed" | "asked" | "started" | "requested" | "settled";

export interface Call {
  readonly part: ToolCallPart;
  readonly route: CallRoute;
  readonly stage: CallStage;
  /** Attempts begun. */
  readonly attempt: number;
  /** Started under an owner that is gone. */
  readonly inDoubt: boolean;
  /** Seq of its `tool.started`: the lane of its events. */
  readonly lane?: number;
  readonly startedAt?: number;
  /** Arguments as a hook or an approval edited them. */
  readonly args?: JsonObject;
  readonly deadline?: number;
  /** What a person was asked. */
  readonly asking?: { readonly argsDigest: string; readonly reason?: string };
  readonly approval?: { readonly decision: ApprovalVerdict; readonly note?: string };
  readonly child?: { readonly session: string; readonly agent: string };
}

export interface ReachedLimit {
  readonly which: "turns" | "toolCalls";
  readonly value: number;
}

/** A model call under way. */
export interface OpenCall {
  /** Seq of its `model.started`: the lane of its events. */
  readonly lane: number;
  readonly turn: number;
  readonly attempt: number;
  readonly inDoubt: boolean;
}

export interface Run {
  readonly runId: string;
  readonly inputId: string;
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
  readonly tools: ToolPolicies;
  /** What the last model call was shown, where it differs from `tools`. */
  readonly shown?: ToolPolicies;
  readonly limits: RunLimits;
  readonly access?: Access;
  readonly options?: RunOptions;
  /** Place of the message that the next one continues. */
  readonly tip: number;
  /** Turns begun, and attempts begun of the last one. */
  readonly turn: number;
  readonly attempt: number;
  readonly open?: OpenCall;
  /** How many attempts of the last turn were handed over: they do not count as attempts. */
  readonly handedOver?: number;
  /** The turn whose request was made again without thinking: at most once for each. */
  readonly repairedTurn?: number;
  /** The last attempt was thrown away and another is owed; `until` once its wait is scheduled. */
  readonly retry?: { readonly failure: Failure; readonly until?: number };
  /** Inputs that join before the next model call. */
  readonly steered: readonly QueuedInput[];
  readonly calls: readonly Call[];
  /** When the calls came: deadlines count from it. */
  readonly calledAt: number;
  /** Calls that counted. */
  readonly toolCallCount: number;
  /** Reached after `turn`: at most one more model call, without tools. */
  readonly limit?: ReachedLimit & { readonly turn: number };
  readonly decision?: Decision;
  readonly abort?: Abort;
  /** Why the run cannot continue. */
  readonly failure?: Failure;
  /** The last model call asked for nothing. */
  readonly answered: boolean;
  /** Why the last model call ended. */
  readonly stopReason?: "stop" | "length" | "tool_calls" | "aborted" | "error";
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** Where `head.moved` sent the next input while this run was open. */
  readonly movedHead?: number;
}

/** That an owner has moved the session since it rested last. */
export interface Attendance {
  /** Seq of the claim by which another owner took over meanwhile: what came before it was cut off. */
  readonly takenOverSeq?: number;
}

/** The fold of a log. It holds the open run only; the history is shared by all versions. */
export interface State {
  /** Seq of the last fact folded. */
  readonly seq: number;
  readonly epoch: number;
  /** Absent while the session rests, and until an owner begins to move it. */
  readonly attended?: Attendance;
  readonly status: "new" | "open" | "closed";
  readonly agent?: string;
  readonly title?: string;
  readonly metadata?: JsonObject;
  readonly createdAt?: number;
  readonly updatedAt?: number;
  readonly history: AppendList<Entry>;
  /** Place of the message that the next input continues when no run is open; -1: none yet. */
  readonly head: number;
  readonly inputs: readonly QueuedInput[];
  readonly known: AppendList<KnownInput>;
  /** On calls of all runs. Absent: no approval was ever requested. */
  readonly decisions?: AppendList<KnownDecision>;
  /** As the session was opened. */
  readonly participants?: readonly string[];
  /** Client tools that came with the session, and a prompt in place of its agent's. */
  readonly tools?: readonly DeclaredTool[];
  readonly prompt?: string;
  readonly run?: Run;
  readonly lastRun?: EndedRun;
  /** Every run that has ended, oldest first. */
  readonly ended: AppendList<EndedRun>;
  /** Model of the last call. */
  readonly model?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** Tokens of the last committed model call. */
  readonly contextTokens?: number;
  /** Number of the last fact that records that a vendor refused thinking: no request holds thinking, or anything else opaque, of an answer before it. */
  readonly thinkingRefusedAt?: number;
  /** Summaries that stand for parts of the path in requests; the newest last. */
  readonly compactions: readonly Compaction[];
}

/** How a run ended. */
export interface EndedRun {
  readonly runId: string;
  readonly status: RunStatus;
  readonly reason: string;
  readonly failure?: Failure;
  readonly limit?: ReachedLimit;
  readonly usage?: Usage;
  readonly cost?: Cost;
}

export interface Compaction {
  readonly from: MessageId;
  readonly to: MessageId;
  readonly summary: string;
}

/** The state of a log without facts. */
export const emptyState: State = {
  seq: 0,
  epoch: 0,
  status: "new",
  history: emptyList(),
  head: -1,
  inputs: [],
  known: emptyList(),
  ended: emptyList(),
  compactions: [],
};

/** Place of the last message of the path that people see now; -1: none. */
export function tipOf(state: State): number {
  return state.run ? state.run.tip : state.head;
}

/** How the run ended, with what was spent and which limit it has reached. */
export function endedRun({ runId, usage, cost, limit }: Run, { status, reason, failure }: Omit<EndedRun, "runId">): EndedRun {
  return {
    runId,
    status,
    reason,
    ...(failure ? { failure } : {}),
    ...(limit ? { limit: { which: limit.which, value: limit.value } } : {}),
    ...(usage ? { usage } : {}),
    ...(cost ? { cost } : {}),
  };
}

/** How the run ended; `undefined` as long as it has not. The cost is the number of runs since. */
export function endOf({ ended }: State, runId: string | undefined): EndedRun | undefined {
  return at(
    ended,
    findLastIndex(ended, (run) => run.runId === runId),
  );
}

/** True when only people or clients can advance the session: it needs no process. */
export function isAtRest(state: State): boolean {
  const { run } = state;
  if (!run) return state.inputs.length === 0 || state.status === "closed";
  if (run.abort || run.open) return false;
  return run.calls.some((call) => call.stage !== "settled") && run.calls.every(isOutside);
}

const isOutside = (call: Call): boolean => call.stage === "settled" || call.stage === "requested" || call.stage === "asked";
