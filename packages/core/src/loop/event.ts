import type { ErrorCode } from "../errors.ts";
import type { StartedCall } from "../message/assemble-message.ts";
import type { AssistantPart, ResultPart, ToolCallPart } from "../message/content.ts";
import type { Json, JsonObject } from "../message/json.ts";
import type { CallOutcome, Message, MessageId, ProgressStep } from "../message/message.ts";
import type { Cost, Usage } from "../message/usage.ts";
import type { ApprovalVerdict, Expense, InputMode, RunStatus, Timings, Verdict } from "./fact.ts";

/** A call that waits for a client, with the fields that the client needs. */
export interface PendingToolCall {
  readonly toolCallId: string;
  readonly callKey: string;
  readonly toolName: string;
  readonly args: JsonObject;
  /** Milliseconds since the epoch after which an answer is too late. */
  readonly deadline?: number;
  /** Set for a call of a child: the session and the agent of the child. The answer still goes to this session. */
  readonly session?: string;
  readonly agent?: string;
}

/** A call that is awaiting approval, with the fields that a person needs to decide on it. */
export interface PendingApproval {
  readonly toolCallId: string;
  readonly callKey: string;
  readonly toolName: string;
  /** The arguments that the tool would get. */
  readonly args: JsonObject;
  /** SHA-256 of these arguments, hexadecimal. Sent with a decision, it binds the decision to the arguments that the person has seen. */
  readonly argsDigest: string;
  /** The reason why approval is needed. */
  readonly reason?: string;
  /** Milliseconds since the epoch after which a decision is too late. */
  readonly deadline?: number;
  /** Set for a call of a child: the session and the agent of the child. The decision still goes to this session. */
  readonly session?: string;
  readonly agent?: string;
}

/** What a child and its children wait for. */
export interface WaitingAgent {
  /** Absent: a hook started the child. */
  readonly callKey?: string;
  readonly session: string;
  readonly agent: string;
  readonly pendingApprovals: readonly PendingApproval[];
  readonly pendingToolCalls: readonly PendingToolCall[];
}

/** The events that subscribers receive for a fact. Never read back. */
export type DurableBody =
  | { readonly type: "session_changed"; readonly title?: string; readonly metadata?: JsonObject }
  | { readonly type: "session_closed" }
  | { readonly type: "head_moved"; readonly to: MessageId | null }
  | {
      readonly type: "input_accepted";
      readonly inputId: string;
      readonly mode: InputMode;
      /** The user's message. Absent: the message `parent` is answered again. */
      readonly message?: Message;
      readonly parent?: MessageId | null;
    }
  | { readonly type: "run_start"; readonly model: string; readonly provider: string }
  /** The id is absent only for an answer in a log of version 1, where an answer got its id at its end. */
  | { readonly type: "message_start"; readonly messageId?: MessageId; readonly role: Message["role"] }
  | {
      readonly type: "message_end";
      readonly messageId: MessageId;
      /** The message before this one; `null`: this message begins a conversation. */
      readonly parent: MessageId | null;
      /** The whole message. It replaces everything that was streamed of it. */
      readonly message: Message;
      readonly usage?: Usage;
      readonly cost?: Cost;
      readonly timings?: Timings;
    }
  | { readonly type: "turn_start"; readonly turn: number }
  | { readonly type: "turn_end"; readonly turn: number }
  | {
      readonly type: "attempt_discarded";
      readonly turn: number;
      readonly attempt: number;
      readonly code: ErrorCode;
      readonly reason: string;
      readonly willRetry: boolean;
      readonly usage?: Usage;
      readonly cost?: Cost;
    }
  | { readonly type: "retry_scheduled"; readonly turn: number; readonly until: number; readonly reason: string }
  | {
      readonly type: "tool_execution_start";
      readonly toolCallId: string;
      readonly callKey: string;
      readonly toolName: string;
      readonly label?: string;
      readonly attempt: number;
      readonly args: JsonObject;
    }
  | {
      readonly type: "tool_execution_end";
      readonly toolCallId: string;
      readonly callKey: string;
      readonly toolName: string;
      readonly outcome: CallOutcome;
      readonly output: readonly ResultPart[];
      readonly details?: Json;
      readonly durationMs?: number;
      /** The steps that the tool reported. All of them have ended. */
      readonly progress?: readonly ProgressStep[];
      /** The usage of models that the tool called by itself. */
      readonly usage?: Usage;
      readonly cost?: Cost;
    }
  | { readonly type: "awaiting_tool_execution"; readonly toolCalls: readonly PendingToolCall[] }
  | ({ readonly type: "approval_requested" } & PendingApproval)
  | {
      readonly type: "approval_decided";
      readonly toolCallId: string;
      readonly callKey: string;
      readonly decision: ApprovalVerdict;
      readonly by?: string;
      /** The arguments as the person edited them. */
      readonly args?: JsonObject;
      readonly note?: string;
    }
  /** `callKey`: absent if a hook started the child. `awaited`: the call waits for the child; otherwise the tool continues beside it. */
  | {
      readonly type: "agent_start";
      readonly callKey?: string;
      readonly session: string;
      readonly agent: string;
      readonly awaited?: true;
      /** The call and the run do not wait for the child. */
      readonly background?: true;
      /** Set for an awaited call if a gate or a person has changed the arguments of the model. */
      readonly args?: JsonObject;
    }
  /** What a child and its children wait for now; answers go to this session. It replaces the previous event of the child, until `agent_end`. */
  | ({ readonly type: "agent_waiting" } & WaitingAgent)
  | { readonly type: "agent_end"; readonly callKey?: string; readonly session: string; readonly usage?: Usage; readonly cost?: Cost }
  | { readonly type: "aborting"; readonly reason: string }
  | { readonly type: "limit_reached"; readonly which: string; readonly value: number }
  /** From here on requests contain `summary` in place of these messages of the path. The messages themselves stay in the log. */
  | {
      readonly type: "context_compacted";
      readonly from: MessageId;
      readonly to: MessageId;
      readonly summary: string;
      /** Messages of the stretch that requests keep unchanged. */
      readonly pinned?: readonly MessageId[];
      /** Estimates of the request, before and after. */
      readonly tokensBefore?: number;
      readonly tokensAfter?: number;
      /** The model that wrote the summary. */
      readonly model?: string;
      readonly usage?: Usage;
      readonly cost?: Cost;
    }
  /** A hook has changed something. Published before the event of the changed message, call or result. */
  | ({ readonly type: "verdict" } & Verdict)
  /** Usage of hooks or tools that no other event reports. */
  | ({ readonly type: "expense" } & Expense)
  | { readonly type: "error"; readonly reason: "error" | "aborted"; readonly code: ErrorCode; readonly error: string }
  | { readonly type: "run_end"; readonly status: RunStatus; readonly reason: string; readonly usage?: Usage; readonly cost?: Cost };

/** A durable event. Its cursor is `<seq>.<k>`; a subscriber applies it only if the cursor is greater than the last one. */
export type DurableEvent = DurableBody & {
  readonly seq: number;
  /** Index among the events of its fact. */
  readonly k: number;
  readonly at: number;
  readonly sessionId: string;
  readonly runId?: string;
};

/** An event between two facts, in the lane of the model call or tool that publishes it. It may be lost; a snapshot then replaces the lane. */
export type EphemeralBody =
  | { readonly type: "text_start"; readonly index: number }
  | { readonly type: "text_delta"; readonly index: number; readonly delta: string }
  | { readonly type: "text_end"; readonly index: number; readonly text: string }
  | { readonly type: "thinking_start"; readonly index: number }
  | { readonly type: "thinking_delta"; readonly index: number; readonly delta: string }
  | { readonly type: "thinking_end"; readonly index: number; readonly thinking: string }
  | { readonly type: "toolcall_start"; readonly index: number; readonly toolName: string }
  | { readonly type: "toolcall_delta"; readonly index: number; readonly delta: string }
  | { readonly type: "toolcall_end"; readonly index: number; readonly toolCall: ToolCallPart }
  | {
      readonly type: "message_snapshot";
      readonly content: readonly AssistantPart[];
      /** Calls whose arguments are not complete; their deltas continue. Absent: none. */
      readonly calls?: readonly StartedCall[];
    }
  | { readonly type: "tool_execution_delta"; readonly toolCallId: string; readonly callKey: string; readonly delta: string }
  | {
      readonly type: "tool_execution_snapshot";
      readonly toolCallId: string;
      readonly callKey: string;
      readonly output: string;
      /** The steps of the tool. Absent: it has reported none yet. */
      readonly progress?: readonly ProgressStep[];
    }
  /** An event of the child's own stream, with its own cursor or its own lane and number. Events of its children are in it as `agent_delta`. */
  | {
      readonly type: "agent_delta";
      readonly callKey: string;
      readonly session: string;
      readonly agent: string;
      readonly event: SessionEvent;
    }
  | {
      readonly type: "progress";
      readonly callKey: string;
      readonly id: string;
      readonly title: string;
      readonly icon?: string;
      readonly state: "open" | "done" | "failed";
    };

export type EphemeralEvent = EphemeralBody & {
  /** Seq of the `model.started` or `tool.started` fact that opened the lane. */
  readonly lane: number;
  /** Counts the events of the lane from 1. */
  readonly n: number;
};

/** The events around one execution, in process or over HTTP. */
export type TransportEvent =
  /** `runId`: the run that answers; present over HTTP only. */
  | { readonly type: "session_start"; readonly sessionId: string; readonly runId?: string }
  | { readonly type: "session_end"; readonly sessionId: string; readonly messages: readonly Message[] }
  | {
      readonly type: "execute_complete";
      readonly status: ExecuteStatus;
      readonly pendingToolCalls?: readonly PendingToolCall[];
      readonly pendingApprovals?: readonly PendingApproval[];
    }
  | { readonly type: "rest" };

/** How one execution ended. */
export type ExecuteStatus = "completed" | "awaiting_tool_execution" | "aborted" | "error";

/** The events of a session that its owner publishes. */
export type SessionEvent = DurableEvent | EphemeralEvent;

/** Everything that an `ExecuteStream` yields. Skip unknown types. */
export type AgentEvent = SessionEvent | TransportEvent;
