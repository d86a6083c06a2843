import type { Failure } from "../errors.ts";
import type { ToolCallPart } from "../message/content.ts";
import type { JsonObject } from "../message/json.ts";
import type { Message, MessageId, UserMessage } from "../message/message.ts";
import type { Cost, Usage } from "../message/usage.ts";
import { type AppendList, at, emptyList, findLastIndex } from "./append-list.ts";
import type {
  Access,
  ApprovalVerdict,
  Decision,
  DeclaredTool,
  HookState,
  Labels,
  ModelChain,
  ParentLink,
  Retention,
  RunBudget,
  RunOptions,
  RunStatus,
  ScheduledInput,
} from "./fact.ts";
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
  readonly labels?: Labels;
  readonly trace?: string;
  /** What hooks keep for its run. */
  readonly hookState?: HookState;
  /** The answer that a hook gave: no model is called. */
  readonly answer?: string;
  /** What hooks spent on it: part of what its run spends. */
  readonly spent?: { readonly usage?: Usage; readonly cost?: Cost };
  /** The schedule that brought it. */
  readonly schedule?: string;
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
  /** Of the message as it came, where a hook edited it. */
  readonly givenDigest?: string;
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

/**
 * Where one call of the turn stands. `pending`: nothing was done yet; `awaiting_*`: it is outside this process, whose next fact may come from any
 * node; `running`: a server tool was started; `done`: it has its one result.
 */
export type CallState = "pending" | "awaiting_approval" | "awaiting_client" | "awaiting_child" | "running" | "done";

export interface Call {
  readonly part: ToolCallPart;
  readonly route: CallRoute;
  readonly state: CallState;
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
  /** `at`: of a client tool's call alone, whose deadline counts from it. */
  readonly approval?: { readonly decision: ApprovalVerdict; readonly note?: string; readonly at?: number };
  /** The session whose end is awaited. */
  readonly child?: { readonly session: string; readonly agent: string };
}

/** A session that user code of a run has begun, under the key with which it finds it again. */
export interface KeyedChild {
  readonly key: string;
  readonly callKey?: string;
  readonly session: string;
  readonly agent: string;
  readonly isDone?: true;
}

/** Something that the session does by itself at a date. */
export interface Schedule {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly due: number;
  readonly input: ScheduledInput;
  readonly everyMs?: number;
  readonly rule?: string;
}

export interface ReachedLimit {
  /** `turns`, `toolCalls`, `tokens`, `costUsd`, `durationMs`, or the name of a limit that a package brings. */
  readonly which: string;
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
  /** Calls of client tools pass the gates before the client is asked. */
  readonly gatesClient?: true;
  /** What hooks keep for this run. */
  readonly hookState?: HookState;
  /** The same when the last model call was prepared, where it was shown other tools. */
  readonly shownState?: HookState;
  readonly access?: Access;
  readonly options?: RunOptions;
  readonly labels?: Labels;
  readonly trace?: string;
  readonly chain?: ModelChain;
  /** Place in the chain of the model that is called. Absent: 0. */
  readonly link?: number;
  /** Attempts of the open turn that earlier models of the chain have made. */
  readonly linkSince?: number;
  readonly context?: JsonObject;
  readonly budget?: RunBudget;
  /** Sessions that user code of the run has begun. */
  readonly children?: readonly KeyedChild[];
  /** The schedule that brought its input. */
  readonly schedule?: string;
  readonly startedAt: number;
  /** How long it was at rest, for people, clients and children. Only counted where the run has a limit of time. */
  readonly restedMs?: number;
  /** The answer that a hook gave before the run began. */
  readonly answer?: string;
  /** Place of the message that the next one continues. */
  readonly tip: number;
  /** Turns begun, and attempts begun of the last one. */
  readonly turn: number;
  readonly attempt: number;
  readonly open?: OpenCall;
  /** Id of the message that the last turn began with: the number of its first `model.started`. */
  readonly answerId?: MessageId;
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
  readonly parent?: ParentLink;
  readonly keyId?: string;
  readonly policy?: JsonObject;
  readonly retention?: Retention;
  /** A legal hold: the session is not to be erased. */
  readonly hold?: { readonly reason?: string; readonly by?: string; readonly at: number };
  readonly schedules?: readonly Schedule[];
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
  /** Where a vendor last refused thinking, as the number of its turn's answer: no request holds thinking, or anything else opaque, of an answer before it. */
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
  /** Messages of that part that requests keep as they are. */
  readonly pinned?: readonly MessageId[];
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

/** How a session stands: `waiting` for people, clients or children, while no process need hold it. */
export type SessionStatus = "idle" | "running" | "waiting" | "closed";

/** What a run at rest waits for. */
export type WaitingReason = "client_tools" | "approvals" | "children";

export function sessionStatusOf(state: State): SessionStatus {
  if (state.status === "closed") return "closed";
  return !isAtRest(state) ? "running" : state.run ? "waiting" : "idle";
}

const reasonOf: { readonly [State in CallState]?: WaitingReason } = {
  awaiting_client: "client_tools",
  awaiting_approval: "approvals",
  awaiting_child: "children",
};

/** What the session waits for; none while it does not wait. */
export function waitingReasons(state: State): readonly WaitingReason[] {
  if (sessionStatusOf(state) !== "waiting") return [];
  return [...new Set((state.run?.calls ?? []).flatMap((call) => reasonOf[call.state] ?? []))];
}

/** True when only people, clients or children can advance the session: it needs no process. */
export function isAtRest(state: State): boolean {
  const { run } = state;
  if (!run) return state.inputs.length === 0 || state.status === "closed";
  if (run.abort || run.open) return false;
  return run.calls.some((call) => call.state !== "done") && run.calls.every(isOutside);
}

/** True as long as what comes next of the call may come from any node: a process that holds the session has nothing to do for it. */
export const isAwaited = ({ state }: Call): boolean =>
  state === "awaiting_client" || state === "awaiting_approval" || state === "awaiting_child";

const isOutside = (call: Call): boolean => call.state === "done" || isAwaited(call);
