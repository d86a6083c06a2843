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
  FactOf,
  HookState,
  Labels,
  ModelChain,
  ParentLink,
  RememberedDecision,
  Retention,
  RunBudget,
  RunOptions,
  RunStatus,
  ScheduledInput,
  Sharing,
  WaitingCall,
} from "./fact.ts";
import type { CallRoute, RunLimits, ToolPolicies } from "./policy.ts";

/** One message of the tree of messages. */
export interface Entry {
  readonly id: MessageId;
  /** Index of the message that it continues; -1: it begins a conversation. */
  readonly parent: number;
  readonly message: Message;
  /** Absent for messages of the session's initial context. */
  readonly runId?: string;
  /** When it joined the conversation, milliseconds since the epoch. */
  readonly at: number;
  /** Idempotency key under which a client sent it: for results of client calls. */
  readonly key?: string;
  /** The summary of a tool result, which models read in place of its content after its run. */
  readonly summary?: string;
}

/** A waiting input: for a run of its own, or for joining the open one. */
export interface QueuedInput {
  readonly seq: number;
  readonly inputId: string;
  readonly runId: string;
  /** True if it comes before the inputs without this mark. */
  readonly jumps?: true;
  readonly message?: UserMessage;
  readonly parent?: MessageId | null;
  readonly access?: Access;
  readonly options?: RunOptions;
  readonly labels?: Labels;
  readonly trace?: string;
  /** The state that hooks keep for its run. */
  readonly hookState?: HookState;
  /** The answer of a hook, in place of a model call. */
  readonly answer?: string;
  /** The usage of hooks for it, a part of the usage of its run. */
  readonly spent?: { readonly usage?: Usage; readonly cost?: Cost };
  /** The schedule that fired it. */
  readonly schedule?: string;
  /** How many runs in a row, its own included, reports of children have started. */
  readonly round?: number;
  /** The part of `spent` that was promised from the budget of an earlier run. */
  readonly prepaid?: QueuedInput["spent"];
  /** True if its run was stopped before it began: it ends as soon as it starts. */
  readonly abort?: Abort;
}

export interface Abort {
  readonly reason: string;
  readonly by?: string;
  readonly at: number;
}

/** An accepted input, kept so that neither it nor its key is accepted twice. */
export interface KnownInput {
  readonly key?: string;
  /** Absent for an input of a build without digests. */
  readonly keyedDigest?: string;
  readonly inputId: string;
  readonly runId: string;
  readonly seq: number;
  readonly message?: UserMessage;
  readonly parent?: MessageId | null;
  /** The digest of the original message, if a hook edited it. */
  readonly givenDigest?: string;
}

/** A recorded decision, kept so that no call is decided twice and a repetition finds the first one. */
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
  /** Of a decision that is remembered. */
  readonly pattern?: JsonObject;
}

/**
 * The state of one call of the turn. `pending`: not handled yet; `awaiting_*`: it waits outside of this process, and its next fact may come from any
 * node; `running`: a server tool was started; `done`: it has its one result.
 */
export type CallState = "pending" | "awaiting_approval" | "awaiting_client" | "awaiting_child" | "running" | "done";

export interface Call {
  readonly part: ToolCallPart;
  readonly route: CallRoute;
  readonly state: CallState;
  /** Attempts begun. */
  readonly attempt: number;
  /** True if it was started under an owner that is gone. */
  readonly inDoubt: boolean;
  /** Seq of its `tool.started`: the lane of its events. */
  readonly lane?: number;
  readonly startedAt?: number;
  /** The arguments as a hook or an approval edited them. */
  readonly args?: JsonObject;
  readonly deadline?: number;
  /** The request for approval. */
  readonly asking?: { readonly argsDigest: string; readonly reason?: string };
  /** `at`: only for the call of a client tool, whose deadline counts from it. */
  readonly approval?: { readonly decision: ApprovalVerdict; readonly note?: string; readonly at?: number };
  /** The session whose end the call waits for. */
  readonly child?: { readonly session: string; readonly agent: string };
  /** How often its child has rested, so that its tool was left and ran again. */
  readonly suspensions?: number;
}

/** A session that user code of a run has begun, under the key with which it finds it again. */
export interface KeyedChild {
  readonly key: string;
  readonly callKey?: string;
  readonly session: string;
  readonly agent: string;
  readonly budget?: RunBudget;
  /** Its calls, and those of its children, that wait for people and clients. */
  readonly waits?: readonly WaitingCall[];
  /** Given at this session since the child last rested. */
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
  /** How many runs in a row, its report included, no user has asked for. */
  readonly round: number;
  /** Until it has it. */
  readonly input?: UserMessage;
}

/** A schedule of the session. */
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

/** A running model call. */
export interface OpenCall {
  /** Seq of its `model.started`: the lane of its events. */
  readonly lane: number;
  readonly turn: number;
  readonly attempt: number;
  readonly inDoubt: boolean;
  /** The most that it may spend, where that is limited. */
  readonly expected?: FactOf<"model.started">["expected"];
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
  /** The same state at the preparation of the last model call, if that call had other tools. */
  readonly shownState?: HookState;
  readonly access?: Access;
  readonly options?: RunOptions;
  readonly labels?: Labels;
  readonly trace?: string;
  readonly chain?: ModelChain;
  /** Index of the current model in the chain. Absent: 0. */
  readonly link?: number;
  /** Attempts of the open turn that earlier models of the chain have made. */
  readonly linkSince?: number;
  readonly context?: JsonObject;
  readonly budget?: RunBudget;
  /** Sessions that user code of the run has begun. */
  readonly children?: readonly KeyedChild[];
  /** How many runs in a row, this one included, reports of children have started. Absent: 0. */
  readonly round?: number;
  /** The part of its usage that was promised from the budget of an earlier run. */
  readonly prepaid?: QueuedInput["spent"];
  /** The schedule that fired its input. */
  readonly schedule?: string;
  readonly startedAt: number;
  /** How long it has waited for people, clients and children. Only counted if the run has a time limit. */
  readonly restedMs?: number;
  /** The answer of a hook, given before the run began. */
  readonly answer?: string;
  /** Index of the message that the next one continues. */
  readonly tip: number;
  /** Turns begun, and attempts begun of the last one. */
  readonly turn: number;
  readonly attempt: number;
  readonly open?: OpenCall;
  /** Id of the answer of the last turn: the number of its first `model.started`. */
  readonly answerId?: MessageId;
  /** The number of attempts of the last turn that were handed over; they do not count as attempts. */
  readonly handedOver?: number;
  /** The turn whose request was repeated without thinking, which happens at most once per turn. */
  readonly repairedTurn?: number;
  /** The last attempt was discarded and another one must follow; `until` is present when its wait is scheduled. */
  readonly retry?: { readonly failure: Failure; readonly until?: number };
  /** Inputs that join before the next model call. */
  readonly steered: readonly QueuedInput[];
  readonly calls: readonly Call[];
  /** The date of the calls, from which their deadlines count. */
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
  /** The target of a `head.moved` during this run, for the next input. */
  readonly movedHead?: number;
}

/** The mark that an owner has continued the session since it last rested. */
export interface Attendance {
  /** Seq of the claim with which another owner took over meanwhile: effects from before it were interrupted. */
  readonly takenOverSeq?: number;
}

/** The fold of a log. It holds the open run only; the history is shared by all versions. */
export interface State {
  /** Seq of the last fact folded. */
  readonly seq: number;
  readonly epoch: number;
  /** Absent while the session rests, and until an owner continues it. */
  readonly attended?: Attendance;
  readonly status: "new" | "open" | "closed";
  readonly agent?: string;
  readonly title?: string;
  readonly metadata?: JsonObject;
  readonly createdAt?: number;
  readonly updatedAt?: number;
  readonly history: AppendList<Entry>;
  /** Index of the message that the next input continues when no run is open; -1: none yet. */
  readonly head: number;
  readonly inputs: readonly QueuedInput[];
  readonly known: AppendList<KnownInput>;
  /** The decisions on calls of all runs. Absent: no approval was ever requested. */
  readonly decisions?: AppendList<KnownDecision>;
  /** Decisions that hold for later calls, the newest last. */
  readonly remembered?: readonly RememberedDecision[];
  /** As the session was opened. */
  readonly participants?: readonly string[];
  readonly parent?: ParentLink;
  readonly keyId?: string;
  readonly policy?: JsonObject;
  readonly retention?: Retention;
  readonly sharing?: Sharing;
  /** A legal hold: the session must not be erased. */
  readonly hold?: { readonly reason?: string; readonly by?: string; readonly at: number };
  readonly schedules?: readonly Schedule[];
  /** The session was closed in order to be erased. */
  readonly erase?: true;
  /** Client tools that came with the session, and a prompt in place of its agent's. */
  readonly tools?: readonly DeclaredTool[];
  readonly prompt?: string;
  readonly run?: Run;
  /** Children that run in the background, oldest first. */
  readonly background?: readonly BackgroundChild[];
  readonly lastRun?: EndedRun;
  /** What hooks keep for the runs of the session that begin from now on. */
  readonly sessionHookState?: HookState;
  /** Every run that has ended, oldest first. */
  readonly ended: AppendList<EndedRun>;
  /** Model of the last call. */
  readonly model?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** Tokens of the last committed model call. */
  readonly contextTokens?: number;
  /** The answer at which a vendor last refused thinking, as its number. Requests leave out thinking and other opaque data of all answers before it. */
  readonly thinkingRefusedAt?: number;
  /** Summaries that replace parts of the path in requests, the newest last. */
  readonly compactions: readonly Compaction[];
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

export interface Compaction {
  /** Of its fact. */
  readonly seq: number;
  readonly from: MessageId;
  readonly to: MessageId;
  readonly summary: string;
  /** Messages of that part that requests keep unchanged. */
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

/** Index of the last message of the path that people see now; -1: none. */
export function tipOf(state: State): number {
  return state.run ? state.run.tip : state.head;
}

/** How the run ended, with its usage and the limit that it reached. */
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

/** How the run ended; `undefined` while it is open or waits. The cost is the number of runs since. */
export function endOf({ ended }: Pick<State, "ended">, runId: string | undefined): EndedRun | undefined {
  return at(
    ended,
    findLastIndex(ended, (run) => run.runId === runId),
  );
}

/** The status of a session. `waiting`: for people, clients or children; no process needs to hold the session meanwhile. */
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

/** What the session waits for; empty if it does not wait. */
export function waitingReasons(state: State): readonly WaitingReason[] {
  if (sessionStatusOf(state) !== "waiting") return [];
  return [...new Set((state.run?.calls ?? []).flatMap((call) => reasonOf[call.state] ?? []))];
}

/** True if only people, clients or children can continue the session, so that it needs no process. */
export function isAtRest(state: State): boolean {
  const { run } = state;
  if (state.background?.some(({ input }) => input)) return false;
  if (!run) return state.inputs.length === 0 || state.status === "closed";
  if (run.abort || run.open) return false;
  return run.calls.some((call) => call.state !== "done") && run.calls.every(isOutside);
}

/** True while the next fact of the call may come from any node, so that the owner of the session has nothing to do for it. */
export const isAwaited = ({ state }: Call): boolean =>
  state === "awaiting_client" || state === "awaiting_approval" || state === "awaiting_child";

const isOutside = (call: Call): boolean => call.state === "done" || isAwaited(call);
