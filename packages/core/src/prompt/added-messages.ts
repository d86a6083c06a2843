/*
 * Owns: what `prepare` hooks add to the conversation for one call, and its places: examples, history, prefix of the last input, reminders.
 * Does not own: what of it fits (the context engine).
 */
import type { PrepareVerdict } from "../agent/hooks.ts";
import type { Message, UserMessage } from "../message/message.ts";
import { soundMessage } from "../message/message-flaws.ts";
import { wellFormed } from "../message/well-formed-text.ts";
import { createValidHistory } from "./valid-history.ts";

/** What is added to the conversation of one call. */
export interface AddedMessages {
  /** A conversation that every vendor accepts by itself, placed before the history. */
  readonly examples: readonly Message[];
  /** In front of the last input that begins with a text. Empty: none. */
  readonly inputPrefix: string;
  /** Behind the history. */
  readonly reminders: readonly Message[];
}

const nothing: AddedMessages = { examples: [], inputPrefix: "", reminders: [] };

/** The messages as every vendor takes them. */
export function validMessages(messages: readonly Message[]): readonly Message[] {
  const valid = createValidHistory();
  valid.take(messages.map(soundMessage));
  return valid.messages;
}

/** What a verdict adds. */
export function addedMessages({ examples = [], inputPrefix = "", reminders = [] }: PrepareVerdict): AddedMessages {
  const notices = reminders.filter((text) => text.trim() !== "").map(noticeOf);
  return { examples, inputPrefix: wellFormed(inputPrefix), reminders: notices };
}

/** The input prefix and the reminders as messages, for counting: the prefix as a notice of the same length. */
export const addedBehind = ({ inputPrefix, reminders }: AddedMessages): readonly Message[] =>
  inputPrefix === "" ? reminders : [noticeOf(inputPrefix), ...reminders];

/** The messages with what hooks add, in order; the given list itself if they add nothing. */
export function withAdded(messages: readonly Message[], { examples, inputPrefix, reminders }: AddedMessages = nothing): readonly Message[] {
  if (examples.length === 0 && inputPrefix === "" && reminders.length === 0) return messages;
  const at = inputPrefix === "" ? -1 : messages.findLastIndex(beginsWithText);
  const prefixed = at < 0 ? messages : messages.with(at, withPrefix(messages[at] as UserMessage, inputPrefix));
  // Compaction may have removed the only input that begins with a text: then the prefix follows the history as a notice.
  const lost = at < 0 && inputPrefix !== "" ? [noticeOf(inputPrefix)] : [];
  return [...examples, ...prefixed, ...lost, ...reminders];
}

const noticeOf = (text: string): Message => ({ role: "notice", text: wellFormed(text) });

const beginsWithText = (message: Message): boolean =>
  message.role === "user" && (typeof message.content === "string" || message.content[0]?.type === "text");

function withPrefix(message: UserMessage, prefix: string): UserMessage {
  const { content } = message;
  if (typeof content === "string") return { ...message, content: prefix + content };
  const [first, ...others] = content;
  return first?.type === "text" ? { ...message, content: [{ ...first, text: prefix + first.text }, ...others] } : message;
}
