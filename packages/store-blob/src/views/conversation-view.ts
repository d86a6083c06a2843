import type { Message, MessageId } from "@loopwright/core";

/** A message of a view: what it says, and when. */
export type ConversationMessage = { readonly id: MessageId; readonly at: number; readonly runId?: string } & Message;

/**
 * A conversation as other programs read it: `_platform/ai-conversations/{scopeId}/{conversationId}.json`. Written when the session rests, never
 * read by Loopwright; deleting it loses nothing. Fields may be added.
 */
export interface ConversationView {
  readonly format: 1;
  /** The session's id. */
  readonly id: string;
  readonly scope: string;
  readonly agent: string;
  readonly title?: string;
  /** `waiting`: for a client or a person. */
  readonly status: "idle" | "waiting" | "closed";
  /** Milliseconds since the epoch, as `updatedAt`. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The last fact of the log that the view has seen. */
  readonly lastSeq: number;
  readonly lastRun?: { readonly status: string; readonly reason: string };
  /** The conversation that people see now, oldest first. */
  readonly messages: readonly ConversationMessage[];
  /** How many older messages were left out; absent: none. */
  readonly earlierCount?: number;
}
