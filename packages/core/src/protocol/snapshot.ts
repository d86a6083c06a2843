import type { Failure } from "../errors.ts";
import type { PendingApproval, PendingToolCall, WaitingAgent } from "../loop/event.ts";
import type { InputMode, RememberedDecision, Retention, RunStatus, Sharing } from "../loop/fact.ts";
import type { SessionStatus, WaitingReason } from "../loop/state.ts";
import type { JsonObject } from "../message/json.ts";
import type { Message, MessageId, UserMessage } from "../message/message.ts";
import type { Cost, Usage } from "../message/usage.ts";

/** One message of the tree of messages. */
export interface SnapshotMessage {
  readonly id: MessageId;
  /** The message before this one; `null`: this message begins a conversation. */
  readonly parent: MessageId | null;
  /** Absent for messages that the session began with. */
  readonly runId?: string;
  /** When the message joined, milliseconds since the epoch. */
  readonly at: number;
  readonly message: Message;
}

/** An accepted input that has not begun or joined a run yet. */
export interface WaitingInput {
  readonly inputId: string;
  readonly runId: string;
  readonly mode: InputMode;
  /** Absent: the message `parent` is answered again. */
  readonly message?: UserMessage;
  readonly parent?: MessageId | null;
}

/** A server tool that is running. */
export interface RunningTool {
  readonly toolCallId: string;
  readonly callKey: string;
  readonly toolName: string;
  readonly args: JsonObject;
  /** Lane of its events. */
  readonly lane: number;
  readonly startedAt: number;
}

/** A call that waits for the end of the session that it has started. */
export interface PendingChild {
  readonly callKey: string;
  readonly session: string;
  readonly agent: string;
  /** The arguments of the call, if a gate or a person has changed those of the model. */
  readonly args?: JsonObject;
}

/** The run that is open. */
export interface OpenRun {
  readonly runId: string;
  readonly provider: string;
  readonly model: string;
  /** Turns begun. */
  readonly turn: number;
  /** Lane of the model call under way. */
  readonly answering?: number;
  readonly tools: readonly RunningTool[];
  readonly pendingToolCalls: readonly PendingToolCall[];
  /** Calls that wait for the end of another session. */
  readonly pendingChildren?: readonly PendingChild[];
  /** Calls that are awaiting approval. */
  readonly pendingApprovals?: readonly PendingApproval[];
  /** Children whose calls wait for people and clients; `pendingApprovals` and `pendingToolCalls` have those calls, too. */
  readonly waitingAgents?: readonly WaitingAgent[];
  /** Why the run is being stopped. */
  readonly aborting?: string;
  /** The last attempt was discarded; the next attempt begins at `until`, once that is known. */
  readonly retry?: { readonly reason: string; readonly until?: number };
  readonly limit?: { readonly which: string; readonly value: number };
  /** The message that the next input continues, if another branch was chosen during the run. */
  readonly movedHead?: MessageId | null;
}

/** Everything a screen needs of a session at one moment. What came later follows as events after `cursor`. */
export interface SessionSnapshot {
  readonly sessionId: string;
  readonly agent: string;
  readonly title?: string;
  readonly metadata?: JsonObject;
  /** The user that opened the session, then its agent. */
  readonly participants?: readonly string[];
  /** How long the session is kept after its last fact. Absent: for ever. */
  readonly retention?: Retention;
  /** Absent: it was never shared. */
  readonly sharing?: Sharing;
  /** The legal hold: the session must not be erased. */
  readonly hold?: { readonly reason?: string; readonly by?: string; readonly at: number };
  /** Decisions that hold for later calls of the session, the newest last. */
  readonly remembered?: readonly RememberedDecision[];
  readonly status: SessionStatus;
  /** Present while the session waits. */
  readonly waitsFor?: readonly WaitingReason[];
  /** True if the log continues in a newer version than this build knows: nothing can be added here. */
  readonly readOnly?: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The position in the event stream up to which the snapshot includes everything. */
  readonly cursor: string;
  /** Every message of every branch, in the order they came. */
  readonly messages: readonly SnapshotMessage[];
  /** The last message of the path that people see now; `null`: there is no message. */
  readonly head: MessageId | null;
  readonly waiting: readonly WaitingInput[];
  readonly run?: OpenRun;
  readonly lastRun?: { readonly runId: string; readonly status: RunStatus; readonly reason: string; readonly failure?: Failure };
  /** The model that was used last. */
  readonly model?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** Tokens of the last model call, prompt and answer. */
  readonly contextTokens?: number;
}
