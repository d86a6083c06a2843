/*
 * Owns: the rules that make a history valid for every vendor, whatever the log holds.
 * Invariants
 *  V1 it begins with a user message and never ends with an assistant message;
 *  V2 every call has exactly one result, right after its message, in call order; there is no other result;
 *  V3 no message and no part is empty; a blank text stays if it carries data of its vendor;
 *  V4 an answer that was cut off keeps its text only;
 *  V5 no text in it holds half of a surrogate pair, even if an older build recorded one.
 */
import type { AssistantPart, ToolCallPart } from "../message/content.ts";
import { type AssistantMessage, callsOf, type Message, type MessageId, type ToolResultMessage } from "../message/message.ts";
import { soundMessage } from "../message/message-flaws.ts";
import { wellFormedJson } from "../message/well-formed-text.ts";
import { lengthOf } from "./message-length.ts";
import { hasStoredMedia, mediaOf } from "./stored-media.ts";

const opening: Message = { role: "user", content: "(The conversation goes on.)" };
const proceed: Message = { role: "notice", text: "Continue." };
const noWords = "(no text)";

/** A history that grows with a transcript: each message is looked at once. */
export interface ValidHistory {
  /** Takes the messages of the transcript from `done` on. */
  take(messages: readonly Message[]): void;
  /** Replaces the results that were taken whole by their summaries. Copies the list once. */
  summarise(): void;
  /** The history as a request may have it. The array is shared and only ever grows, until `summarise` begins another. */
  readonly messages: readonly Message[];
  /** The id of each message; `undefined`: it was made up. Grows with `messages`. */
  readonly ids: readonly (MessageId | undefined)[];
  /** Messages of the transcript taken so far. */
  readonly done: number;
  /** Characters in all, as `lengthOf` counts them. */
  readonly textLength: number;
  /** True if a message names a blob in place of an image's or a file's bytes. */
  readonly hasStoredMedia: boolean;
  /** True if a user or a tool has given an image or a file. */
  readonly hasMedia: boolean;
}

export interface ValidHistoryOptions {
  /** The form of a message of the transcript in this history. Default: unchanged. */
  readonly asTaken?: (message: Message, at: number) => Message;
  /** Default: none has an id. */
  readonly idAt?: (at: number) => MessageId | undefined;
  /** What takes the place of a result at the next `summarise`; `undefined`: it stays as it is. */
  readonly summaryOf?: (at: number) => Message | undefined;
}

/** An empty history. */
export function createValidHistory(options: ValidHistoryOptions = {}): ValidHistory {
  return new GrowingHistory(options);
}

class GrowingHistory implements ValidHistory {
  readonly #options: ValidHistoryOptions;
  messages: Message[] = [];
  ids: (MessageId | undefined)[] = [];
  done = 0;
  textLength = 0;
  #stored = 0;
  #ofMedia = 0;
  /** Results that were taken whole, by place, and their summaries. */
  readonly #whole = new Map<number, Message>();

  constructor(options: ValidHistoryOptions) {
    this.#options = options;
  }

  get hasStoredMedia(): boolean {
    return this.#stored > 0;
  }

  get hasMedia(): boolean {
    return this.#ofMedia > 0;
  }

  take(messages: readonly Message[]): void {
    let index = this.done;
    while (index < messages.length) index = this.#takeOne(messages, index);
    this.done = messages.length;
  }

  summarise(): void {
    if (this.#whole.size === 0) return;
    // A request that went out keeps the list that it was given.
    this.messages = [...this.messages];
    this.ids = [...this.ids];
    for (const [place, summary] of this.#whole) {
      this.#count(this.messages[place] as Message, -1);
      this.messages[place] = summary;
      this.#count(summary, 1);
    }
    this.#whole.clear();
  }

  #asTaken(message: Message, at: number): Message {
    return this.#options.asTaken ? this.#options.asTaken(message, at) : message;
  }

  #takeOne(messages: readonly Message[], index: number): number {
    const message = this.#asTaken(soundMessage(messages[index] as Message), index);
    if (message.role === "tool_result") return index + 1; // V2: its call is not before it.
    if (message.role !== "assistant") {
      const full = isEmpty(message) ? { ...message, ...(message.role === "notice" ? { text: noWords } : { content: noWords }) } : message;
      this.#push(full, this.#options.idAt?.(index));
      return index + 1;
    }
    const kept = keep(message);
    if (kept) this.#push(kept, this.#options.idAt?.(index));
    const first = index + 1;
    const results = resultsFrom(messages, first).map((result, from) => this.#asTaken(result, first + from) as ToolResultMessage);
    for (const { result, from } of kept ? resultsFor(kept, results) : []) {
      this.#push(result, from < 0 ? undefined : this.#options.idAt?.(first + from));
      const summary = from < 0 ? undefined : this.#options.summaryOf?.(first + from);
      if (summary) this.#whole.set(this.messages.length - 1, wellFormedJson(summary));
    }
    return first + results.length;
  }

  #push(given: Message, id: MessageId | undefined): void {
    const message = wellFormedJson(given);
    if (this.messages.length === 0 && message.role !== "user") this.#add(opening, undefined);
    const last = this.messages.at(-1);
    if (message.role === "assistant" && last?.role === "assistant") this.#add(proceed, undefined);
    this.#add(message, id);
    this.#count(message, 1);
  }

  #add(message: Message, id: MessageId | undefined): void {
    this.messages.push(message);
    this.ids.push(id);
  }

  /** Adds the message to the counts, or subtracts it. */
  #count(message: Message, sign: 1 | -1): void {
    this.textLength += sign * lengthOf(message);
    if (hasStoredMedia(message)) this.#stored += sign;
    if (mediaOf(message).length > 0) this.#ofMedia += sign;
  }
}

/** The results from `first` on, up to the next message that is none. */
function resultsFrom(messages: readonly Message[], first: number): readonly ToolResultMessage[] {
  const results: ToolResultMessage[] = [];
  for (let at = first; at < messages.length; at++) {
    const message = soundMessage(messages[at] as Message);
    if (message.role !== "tool_result") break;
    results.push(message);
  }
  return results;
}

/** The history with an end that a model can answer: the same list if it has such an end. */
export function withAnswerableEnd(messages: readonly Message[]): readonly Message[] {
  return messages.at(-1)?.role === "assistant" ? [...messages, proceed] : messages;
}

/** The message without the parts that no vendor takes; `undefined`: nothing is left. */
function keep(message: AssistantMessage): AssistantMessage | undefined {
  const wasCut = message.stopReason === "aborted" || message.stopReason === "error";
  const fits = (part: AssistantPart): boolean =>
    part.type === "text" ? part.text.trim() !== "" || (part.opaque !== undefined && !wasCut) : !wasCut;
  const isWhole = message.content.every(fits);
  const content = isWhole ? message.content : message.content.filter(fits);
  const prints = content.some(
    (part) => part.type === "text" || part.type === "tool_call" || part.type === "image" || part.type === "opaque",
  );
  if (!prints) return undefined;
  return isWhole ? message : { ...message, content };
}

interface FoundResult {
  readonly result: ToolResultMessage;
  /** Its index among the given results; -1: it was made up. */
  readonly from: number;
}

function resultsFor(message: AssistantMessage, results: readonly ToolResultMessage[]): readonly FoundResult[] {
  const calls = callsOf(message);
  if (calls.length === 0) return [];
  const free = results.map((result, from) => ({ result, from }));
  return calls.map((call) => {
    const place = free.findIndex(({ result }) => belongsTo(result, call));
    const [found] = place < 0 ? [] : free.splice(place, 1);
    if (!found) return { result: missingResult(call), from: -1 };
    return isEmpty(found.result) ? { ...found, result: { ...found.result, content: noWords } } : found;
  });
}

const belongsTo = (result: ToolResultMessage, call: ToolCallPart): boolean =>
  result.callKey === undefined ? result.toolCallId === call.id || result.toolCallId === call.callKey : result.callKey === call.callKey;

function missingResult(call: ToolCallPart): ToolResultMessage {
  const content = "The outcome of this call is unknown. Do not assume it failed.";
  return {
    role: "tool_result",
    toolCallId: call.id,
    callKey: call.callKey,
    toolName: call.name,
    content,
    isError: true,
    outcome: "interrupted",
  };
}

function isEmpty(message: Exclude<Message, AssistantMessage>): boolean {
  if (message.role === "notice") return message.text.trim() === "";
  if (typeof message.content === "string") return message.content.trim() === "";
  return message.content.every((part) => part.type === "text" && part.text.trim() === "");
}
