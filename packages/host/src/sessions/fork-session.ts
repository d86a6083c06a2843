import { AgentError, type FactOf, type SessionSnapshot } from "@loopwright/core";
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
}

/**
 * The beginning of a fork: the messages of the source up to the chosen one, and `metadata.forkedFrom`, which names the source and that message. A fork with the
 * agent of the source also has its prompt and its client tools. Usage and cost stay with the source. @throws AgentError INPUT_INVALID for a message that the source does not have
 */
export function forkOf({ snapshot, opening }: ForkSource, options: ForkOptions = {}): NewSession & { readonly agent: string } {
  const { message = snapshot.head, agent = snapshot.agent, title = snapshot.title, metadata } = options;
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
    systemPrompt: prompt,
  };
}
