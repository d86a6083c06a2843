import type { Message, MessageId } from "@loopwright/core/protocol";

/** A message with its id. */
export interface PlacedMessage {
  readonly id: MessageId;
  readonly message: Message;
}

/** The first messages in which two conversations differ. A side that is absent has ended. */
export interface ConversationDifference {
  /** The messages before it, which are equal. */
  readonly equal: number;
  readonly one?: PlacedMessage;
  readonly other?: PlacedMessage;
}

/** Members that differ in every session: ids, and what a process or a vendor measured. As `diff` of the command line leaves them out. */
const ownOfSession: ReadonlySet<string> = new Set(["callKey", "toolCallId", "id", "usage", "cost", "timings", "durationMs", "opaque"]);

/** Where two conversations part; `undefined`: they are equal. Both are oldest first. */
export function differenceOf(one: readonly PlacedMessage[], other: readonly PlacedMessage[]): ConversationDifference | undefined {
  for (let equal = 0; equal < Math.max(one.length, other.length); equal++) {
    const [first, second] = [one[equal], other[equal]];
    if (first && second && comparable(first.message) === comparable(second.message)) continue;
    return { equal, ...(first ? { one: first } : {}), ...(second ? { other: second } : {}) };
  }
  return undefined;
}

/** Members in the order of their names: a message that was read from elsewhere may have another. */
function comparable(message: Message): string {
  return JSON.stringify(message, (name, value: unknown) => {
    if (ownOfSession.has(name)) return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** What a message has, for people: its texts, its thinking, its calls with their arguments. */
export function wordsOf(message: Message): string {
  if (message.role === "notice") return message.text;
  if (typeof message.content === "string") return message.content;
  return message.content
    .map((part) => {
      if (part.type === "text") return part.text;
      if (part.type === "thinking") return `Thinking: ${part.text}`;
      if (part.type === "tool_call") return `${part.name} ${part.argsText ?? JSON.stringify(part.args, undefined, 2)}`;
      if (part.type === "json") return JSON.stringify(part.value, undefined, 2);
      return `[${part.type}]`;
    })
    .join("\n\n");
}
