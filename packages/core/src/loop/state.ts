import { present } from "../message/drop-undefined.ts";
import type { JsonObject } from "../message/json.ts";
import type { Message, MessageId } from "../message/message.ts";
import type { Cost, Usage } from "../message/usage.ts";
import { type AppendList, at, emptyList, findLastIndex } from "./append-list.ts";
import type { DeclaredTool, HookState, ParentLink, RememberedDecision, Retention, Sharing } from "./fact.ts";
import type { Call, CallState } from "./state/call.ts";
import type { BackgroundChild } from "./state/children.ts";
import type { Firing, KnownDecision, KnownInput, QueuedInput, Schedule } from "./state/inputs.ts";
import type { EndedRun, Run } from "./state/run.ts";

export type { Call, CallState } from "./state/call.ts";
export type { BackgroundChild, KeyedChild } from "./state/children.ts";
export type { Abort, Firing, KnownDecision, KnownInput, QueuedInput, Schedule } from "./state/inputs.ts";
export type { EndedRun, OpenCall, OpenSummary, ReachedLimit, Run } from "./state/run.ts";

/** One message of the tree of messages. */
export interface Entry {
  readonly id: MessageId;
  /** Index of the message before this one; -1: this message begins a conversation. */
  readonly parent: number;
  readonly message: Message;
  /** Absent for messages of the session's initial context. */
  readonly runId?: string;
  /** When the message joined the conversation, in milliseconds since the epoch. */
  readonly at: number;
  /** The idempotency key of a client's result. */
  readonly key?: string;
  /** The summary of a tool result, which models read in place of its content after its run. */
  readonly summary?: string;
}

/** Present if an owner has continued the session since the session last rested. */
export interface Attendance {
  /** Seq of the claim with which another owner took over since then: earlier effects were interrupted. */
  readonly takenOverSeq?: number;
}

/** The fold of a log. It has the details of the open run only. Successive states share one list of messages. */
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
  /** Given when the session was opened. */
  readonly participants?: readonly string[];
  readonly parent?: ParentLink;
  readonly keyId?: string;
  readonly policy?: JsonObject;
  readonly retention?: Retention;
  readonly sharing?: Sharing;
  /** A legal hold: the session must not be erased. */
  readonly hold?: { readonly reason?: string; readonly by?: string; readonly at: number };
  readonly schedules?: readonly Schedule[];
  /** The last due dates of all schedules, oldest first. */
  readonly firings?: readonly Firing[];
  /** The session was closed in order to be erased. */
  readonly erase?: true;
  /** Client tools that came with the session, and a prompt in place of its agent's. */
  readonly tools?: readonly DeclaredTool[];
  readonly prompt?: string;
  readonly run?: Run;
  /** Children that run in the background, oldest first. */
  readonly background?: readonly BackgroundChild[];
  readonly lastRun?: EndedRun;
  /** The state that hooks keep for later runs of the session. */
  readonly sessionHookState?: HookState;
  /** Every run that has ended, oldest first. */
  readonly ended: AppendList<EndedRun>;
  /** Model of the last call. */
  readonly model?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** Tokens of the last committed model call. */
  readonly contextTokens?: number;
  /** The number of the answer for which a vendor last refused thinking. Requests leave out thinking and other opaque data of all earlier answers. */
  readonly thinkingRefusedAt?: number;
  /** Summaries that replace parts of the path in requests, the newest last. */
  readonly compactions: readonly Compaction[];
}

export interface Compaction {
  /** Seq of the fact. */
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

/** Index of the last message of the current path; -1: none. */
export function tipOf(state: State): number {
  return state.run ? state.run.tip : state.head;
}

/** How the run ended, with its usage and the limit that it reached. */
export function endedRun({ runId, usage, cost, limit }: Run, { status, reason, failure }: Omit<EndedRun, "runId">): EndedRun {
  return {
    runId,
    status,
    reason,
    ...present({ failure, usage, cost, limit: limit && { which: limit.which, value: limit.value } }),
  };
}

/** How the run ended; `undefined` while it is open or waits. Reads the later runs. */
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
