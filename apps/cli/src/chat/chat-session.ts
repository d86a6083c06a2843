import type {
  AgentEvent,
  Cost,
  ExecuteResult,
  Message,
  PendingApproval,
  PendingToolCall,
  ToolResultMessage,
  Usage,
} from "@loopwright/core";
import type { ApprovalDecision } from "@loopwright/core/protocol";

/** How the run ended that answered an input. */
export interface AnswerEnd extends Pick<ExecuteResult, "status" | "error" | "runId"> {
  /** The vendor's message of the error, where the run was of this process. */
  readonly vendorMessage?: string;
}

/** The person's answers to everything that waited. */
export interface CallAnswers {
  readonly results: readonly ToolResultMessage[];
  readonly decisions: readonly (Omit<ApprovalDecision, "remember"> & { readonly callKey: string })[];
}

/** The listener to the events of a session. */
export interface ChatListener {
  events(events: readonly AgentEvent[]): void;
  /** The way to the session is lost, or there again. */
  connection?(isLost: boolean): void;
  /** No further event is delivered. */
  failed?(error: unknown): void;
}

/** A session as a chat needs it, in this process or on a server. What was before this moment stands in its fields, what comes after is delivered as events. */
export interface ChatSession {
  readonly id: string;
  /** Used last. */
  readonly model: string | undefined;
  /** The transcript, oldest first. */
  readonly messages: readonly Message[];
  readonly pendingToolCalls: readonly PendingToolCall[];
  readonly pendingApprovals: readonly PendingApproval[];
  readonly usage: Usage | undefined;
  readonly cost: Cost | undefined;
  readonly contextTokens: number | undefined;
  /** `cut-off`: a crash left a run open that `goOn` resumes; `running`: another process works on it, `goOn` waits for its end. */
  readonly state: "resting" | "cut-off" | "running";
  /** A run continues when this chat ends. */
  readonly outlivesChat: boolean;
  /** Something of it is kept and can be come back to. */
  readonly isKept: boolean;
  subscribe(listener: ChatListener): () => void;
  /** Sends a message (it joins the open run). Resolves when the run that answers ends or waits. */
  say(words: string, options: { readonly model?: string }): Promise<AnswerEnd>;
  /** Answers calls that wait. Resolves when their run ends or waits again. */
  answer(answers: CallAnswers): Promise<AnswerEnd>;
  proceed(): Promise<AnswerEnd>;
  /** Stops the open run. Resolves when that is recorded. */
  abort(): Promise<void>;
  /** Has the next model call compact the older messages first. False: where the session runs, that is not decided here. */
  compact(): boolean;
  /** Lets go of the session. */
  leave(): Promise<void>;
}
