import type { AssistantPart } from "../message/content.ts";
import type { AssistantMessage, Message } from "../message/message.ts";

/** True if the message holds thinking, or anything else that only its vendor can read. */
export function holdsOpaque(message: Message): boolean {
  return message.role === "assistant" && message.content.some(isOpaque);
}

/** The message for other vendors: without thinking and without data that only its own vendor can read. The same message if it has neither. */
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
