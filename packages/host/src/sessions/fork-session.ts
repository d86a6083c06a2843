import { AgentError, type FactOf, readHistory, type SessionSnapshot } from "@loopwright/core";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import { type JsonObject, type MessageId, pathOf } from "@loopwright/core/protocol";
import type { NewSession } from "./session-host.ts";

/** The session from which a fork begins. */
export interface ForkSource {
  readonly snapshot: SessionSnapshot;
  /** The first fact of its log, for the prompt and the client tools that came with the session. */
  readonly opening: FactOf<"session.opened"> | undefined;
}

export interface ForkOptions {
  /** The last message that the fork has. Default: the last message of the current path. */
  readonly message?: MessageId | null | undefined;
  /** Default: the agent of the source. */
  readonly agent?: string | undefined;
  /** Default: the title of the source. */
  readonly title?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  /** In place of the prompt of the agent. Default: the prompt that came with the source, if any. */
  readonly systemPrompt?: string | undefined;
}

/**
 * The last message that people saw once the log had so many facts; `null` before the first one. An answer counts from its end on.
 * @throws AgentError INPUT_INVALID if the log is shorter, STORE_*
 */
export async function messageAt(store: SessionStore, ref: SessionRef, seq: number): Promise<MessageId | null> {
  const { lastSeq } = await store.log.head(ref);
  if (seq > lastSeq)
    throw new AgentError("INPUT_INVALID", {
      message: `The session has no event ${seq}: its last one is ${lastSeq}.`,
      fix: `Pass a number from 1 to ${lastSeq}.`,
      details: { field: "at" },
    });
  let head: MessageId | null = null;
  for await (const events of readHistory(store, ref))
    for (const event of events) {
      if (event.seq > seq) return head;
      if (event.type === "message_end") head = event.messageId;
      if (event.type === "head_moved") head = event.to;
    }
  return head;
}

/**
 * The beginning of a fork: the messages of the source up to the chosen one, and `metadata.forkedFrom`, which names the source and that message. A fork with the
 * agent of the source also has its prompt and its client tools. Usage and cost stay with the source. @throws AgentError INPUT_INVALID for a message that the source does not have
 */
export function forkOf({ snapshot, opening }: ForkSource, options: ForkOptions = {}): NewSession & { readonly agent: string } {
  const { message = snapshot.head, agent = snapshot.agent, title = snapshot.title, metadata, systemPrompt } = options;
  if (message !== null && !snapshot.messages.some(({ id }) => id === message))
    throw new AgentError("INPUT_INVALID", {
      message: `The session has no message \`${message.slice(0, 64)}\`.`,
      fix: "Name one of its `messages`; without a name the fork begins with all messages that people see now.",
      details: { field: "message" },
    });
  const { prompt, tools } = agent === snapshot.agent ? (opening ?? {}) : {};
  return {
    agent,
    title,
    metadata: { ...metadata, forkedFrom: { session: snapshot.sessionId, message } },
    messages: pathOf({ messages: snapshot.messages, head: message }).map((one) => one.message),
    tools,
    systemPrompt: systemPrompt ?? prompt,
  };
}
