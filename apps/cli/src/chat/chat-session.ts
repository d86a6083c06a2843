import type { AgentEvent, Cost, ExecuteResult, Message, PendingToolCall, ToolResultMessage, Usage } from "@loopwright/core";

/** How the run ended that answered an input. */
export type AnswerEnd = Pick<ExecuteResult, "status" | "error" | "runId">;

/** Who is told what happens in a session. */
export interface ChatListener {
  events(events: readonly AgentEvent[]): void;
  /** The way to the session is lost, or there again. */
  connection?(isLost: boolean): void;
  /** Nothing more is told, for good. */
  failed?(error: unknown): void;
}

/** A session as a chat needs it, in this process or on a server. What was before this moment stands in its fields, what comes after is told as events. */
export interface ChatSession {
  readonly id: string;
  /** Used last. */
  readonly model: string | undefined;
  /** The transcript, oldest first. */
  readonly messages: readonly Message[];
  readonly pendingToolCalls: readonly PendingToolCall[];
  readonly usage: Usage | undefined;
  readonly cost: Cost | undefined;
  readonly contextTokens: number | undefined;
  /** `cut-off`: a crash left a run open that `goOn` takes up; `running`: somebody else works on it, `goOn` waits for its end. */
  readonly state: "resting" | "cut-off" | "running";
  /** A run goes on when this chat ends. */
  readonly outlivesChat: boolean;
  /** Something of it is kept and can be come back to. */
  readonly isKept: boolean;
  subscribe(listener: ChatListener): () => void;
  /** Says words (they join the open run) or gives the results of calls. Resolves when the run that answers ends or waits. */
  say(input: string | readonly ToolResultMessage[], options: { readonly model?: string }): Promise<AnswerEnd>;
  goOn(): Promise<AnswerEnd>;
  /** Stops the open run. Resolves when that is recorded. */
  abort(): Promise<void>;
  /** Lets go of the session. */
  leave(): Promise<void>;
}
