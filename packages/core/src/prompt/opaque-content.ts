import type { AssistantPart } from "../message/content.ts";
import type { AssistantMessage, Message } from "../message/message.ts";

/** Whether the message holds thinking, or anything else that only its vendor can read. */
export function holdsOpaque(message: Message): boolean {
  return message.role === "assistant" && message.content.some(isOpaque);
}

/** The message as any other vendor would be sent it: without thinking and without what only its own vendor can read. Itself where there is none. */
export function withoutThinking(message: AssistantMessage): AssistantMessage {
  if (!holdsOpaque(message)) return message;
  return { ...message, content: message.content.flatMap(plain) };
}

function isOpaque(part: AssistantPart): boolean {
  return part.type === "thinking" || part.type === "opaque" || ("opaque" in part && part.opaque !== undefined);
}

function plain(part: AssistantPart): readonly AssistantPart[] {
  if (part.type === "thinking" || part.type === "opaque") return [];
  if (!("opaque" in part)) return [part];
  const { opaque: _, ...rest } = part;
  return [rest];
}
