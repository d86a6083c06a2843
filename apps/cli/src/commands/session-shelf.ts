import type { Message, MessageId } from "@loopwright/core";
import type { SessionHit, SessionSummary } from "@loopwright/core/ports";
import type { Question } from "../chat/question-lines.ts";

/** What is said in a session. */
export interface Transcript {
  readonly title: string | undefined;
  /** Oldest first. */
  readonly messages: readonly { readonly id: MessageId; readonly message: Message }[];
  /** Its last run was cut off and waits for somebody to go on with it. */
  readonly isInterrupted: boolean;
  /** What waits for a person. */
  readonly pending: readonly Question[];
}

/** Sessions that can be looked at: of a store's file, or of a server. */
export interface SessionShelf {
  /** The latest change first. */
  list(limit: number): Promise<readonly SessionSummary[]>;
  /** Those that hold all words, the best first. */
  search(words: string, limit: number): Promise<readonly SessionHit[]>;
  /** @throws AgentError SESSION_NOT_FOUND */
  read(id: string): Promise<Transcript>;
  /** Deletes it for good. @throws AgentError SESSION_NOT_FOUND, SESSION_BUSY */
  remove(id: string): Promise<void>;
  /** What a person types to go on with a session. */
  resumeCommand(id: string): string;
  close(): Promise<void>;
}
