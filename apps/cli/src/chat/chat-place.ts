import type { SessionSummary } from "@loopwright/core/ports";
import type { ChatSession } from "./chat-session.ts";

/** What one run may use; 0: no limit. */
export interface ChatLimits {
  readonly tokensMax: number;
  readonly costUsdMax: number;
}

/** Where a chat finds its sessions and what answers in them: this process with its store, or a server. */
export interface ChatPlace {
  /** One line: the model that answers and why. */
  readonly introduction: string;
  /** The offline demonstration model answers. */
  readonly isOffline: boolean;
  /** The provider of the models, for the footer. */
  readonly provider: string;
  readonly defaultModel: string;
  /** Absent: they are known to the server alone. */
  readonly limits?: ChatLimits;
  /** Size of a model's window in tokens, where it is known. */
  contextMax(model: string): number | undefined;
  /** A new session, or the one of this id. @throws AgentError SESSION_NOT_FOUND */
  open(id: string | undefined): Promise<ChatSession>;
  /** The latest change first. */
  list(limit: number): Promise<readonly SessionSummary[]>;
  /** What a person types to come back to a session. */
  resumeCommand(id: string): string;
}
