import { callsOf, type Message } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";

/** What the strictest vendor would refuse the request for; `undefined` when it is sound. */
export function requestFlaw({ messages, tools = [], toolChoice }: ModelRequest): string | undefined {
  const [first] = messages;
  if (!first) return "there is no message";
  if (first.role !== "user") return `it begins with a message of role ${first.role}`;
  if (messages.at(-1)?.role === "assistant") return "it ends with an answer";
  if (holdsHalfPair(messages)) return "half a surrogate pair";
  if (tools.length === 0 && toolChoice !== undefined) return "a tool choice without tools";
  const owed: string[] = [];
  for (const [at, message] of messages.entries()) {
    const flaw = placeFlaw(message, messages[at - 1], owed) ?? contentFlaw(message);
    if (flaw !== undefined) return `message ${at}: ${flaw}`;
    if (message.role === "assistant") owed.push(...callsOf(message).map(({ callKey }) => callKey));
  }
  return owed.length > 0 ? `the call ${owed[0]} has no result` : undefined;
}

/** Whether a text in it holds half of a surrogate pair: `JSON.stringify` escapes such a half, and leaves whole pairs as they are. */
export function holdsHalfPair(value: object): boolean {
  const text = JSON.stringify(value);
  return text.includes("\\ud") && /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text);
}

function placeFlaw(message: Message, before: Message | undefined, owed: string[]): string | undefined {
  if (message.role !== "tool_result") {
    if (owed.length > 0) return `the call ${owed[0]} has no result right after it`;
    return message.role === "assistant" && before?.role === "assistant" ? "two answers in a row" : undefined;
  }
  const next = owed.shift();
  if (next === undefined) return "a result without its call";
  return message.callKey === undefined || message.callKey === next
    ? undefined
    : `the result of ${message.callKey} where that of ${next} belongs`;
}

function contentFlaw(message: Message): string | undefined {
  if (message.role === "notice") return message.text.trim() === "" ? "an empty notice" : undefined;
  const { content } = message;
  if (typeof content === "string") return content.trim() === "" ? "an empty text" : undefined;
  if (content.length === 0) return "no content";
  const isBlank = content.some(
    (part) => part.type === "text" && part.text.trim() === "" && !("opaque" in part && part.opaque !== undefined),
  );
  return isBlank ? "an empty text" : undefined;
}
