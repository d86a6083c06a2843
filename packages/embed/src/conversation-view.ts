import type { Message, MessageId, SessionSnapshot } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import { pathOf } from "@loopwright/core/protocol";

/** A message of a view: its content, and when it was recorded. */
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
  /** The last fact of the log that the view includes. */
  readonly lastSeq: number;
  readonly lastRun?: { readonly status: string; readonly reason: string };
  /** The conversation on the current branch, oldest first: its newest 1,000 messages. */
  readonly messages: readonly ConversationMessage[];
  /** How many older messages were left out; absent: none. */
  readonly earlierCount?: number;
}

/** Messages of one view. */
const messagesMax = 1_000;

/** The key of the view of a session. */
export const viewKeyOf = ({ scope, session }: SessionRef): string => `_platform/ai-conversations/${scope}/${session}.json`;

/** `undefined` while the session is running. */
export function viewOf(
  snapshot: SessionSnapshot,
  { scope, lastSeq }: Pick<ConversationView, "scope" | "lastSeq">,
): ConversationView | undefined {
  const { sessionId: id, agent, title, status, createdAt, updatedAt, lastRun } = snapshot;
  if (status === "running") return undefined;
  const path = pathOf(snapshot);
  const messages = path.slice(-messagesMax);
  return {
    format: 1,
    id,
    scope,
    agent,
    ...(title === undefined ? {} : { title }),
    status,
    createdAt,
    updatedAt,
    lastSeq,
    ...(lastRun ? { lastRun: { status: lastRun.status, reason: lastRun.reason } } : {}),
    messages: messages.map((one) => ({
      id: one.id,
      at: one.at,
      ...(one.runId === undefined ? {} : { runId: one.runId }),
      ...one.message,
    })),
    ...(path.length > messages.length ? { earlierCount: path.length - messages.length } : {}),
  };
}
