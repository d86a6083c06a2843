/*
 * Owns: what of a history is left out so that it is likely to fit the model's window. Does not own: the history (valid-history).
 * Invariants
 *  W1 what was cut stays cut, to the same text: a vendor's cache of the beginning survives the turns that follow;
 *  W2 it follows from the history, the window and what else is in the request alone, so that another process cuts the same;
 *  W3 no cut parts a character, and no message becomes empty.
 */
import type { FilePart, ImagePart, ResultPart, UserPart } from "../message/content.ts";
import { type Message, partsOf, type ToolResultMessage, type UserMessage } from "../message/message.ts";
import { headOf } from "../tools/cut-text.ts";
import { jsonHead } from "../tools/json-head.ts";
import { charactersPerToken, estimatedSizes, type MessageSizes } from "./message-length.ts";

/** Characters that a token stands for at the most: text outside this bound is rare. */
const charactersPerTokenMost = 8;
/** Results shorter than this are never cut. */
const resultKeptMin = 2_000;
/** How full the window is after a cut: the room is for the next turns, which would else cut, and lose the vendor's cache, each time. */
const filledAfterCut = 0.75;

/** What a history has to fit into. */
export interface Window {
  /** Size of the history, in characters. */
  readonly textLength: number;
  /** Size of the request beside its messages. */
  readonly besideLength: number;
  /** Sizes of single messages. Default: the estimate. */
  readonly sizes?: Pick<MessageSizes, "sizeOf"> | undefined;
  /** Unknown: nothing is cut. */
  readonly contextTokens: number | undefined;
}

/** Fits one history as it grows. */
export interface WindowFit {
  /**
   * The messages so that they are likely to fit: the largest tool results are cut, oldest first among equals, then images and files of earlier
   * inputs are left out. `undefined` when they cannot fit whatever the tokenizer: a vendor would refuse them.
   */
  fit(messages: readonly Message[], window: Window): readonly Message[] | undefined;
}

export function createWindowFit(): WindowFit {
  let cuts: Cuts | undefined;
  return {
    fit(messages, window) {
      const { contextTokens, textLength, besideLength, sizes = estimatedSizes } = window;
      if (contextTokens === undefined || textLength + besideLength <= contextTokens * charactersPerToken) return messages;
      if (!cuts?.goesOn(messages, contextTokens, sizes)) cuts = new Cuts(messages, contextTokens, sizes);
      return cuts.fitted(besideLength);
    },
  };
}

interface Candidate {
  readonly place: number;
  readonly size: number;
}

/** What was cut of one list of messages, which only grows. */
class Cuts {
  readonly #messages: readonly Message[];
  readonly #contextTokens: number;
  readonly #sizes: Pick<MessageSizes, "sizeOf">;
  readonly #shown = new Map<number, Message>();
  #results: Candidate[] = [];
  #media: Candidate[] = [];
  #done = 0;
  #left = 0;

  constructor(messages: readonly Message[], contextTokens: number, sizes: Pick<MessageSizes, "sizeOf">) {
    this.#messages = messages;
    this.#contextTokens = contextTokens;
    this.#sizes = sizes;
  }

  goesOn(messages: readonly Message[], contextTokens: number, sizes: Pick<MessageSizes, "sizeOf">): boolean {
    const isSame = this.#messages === messages && this.#contextTokens === contextTokens && this.#sizes === sizes;
    return isSame && this.#done <= messages.length;
  }

  fitted(besideLength: number): readonly Message[] | undefined {
    for (; this.#done < this.#messages.length; this.#done++) {
      const message = this.#messages[this.#done] as Message;
      // A request went out before each answer: what it left out stays out.
      if (message.role === "assistant") this.#shrink(besideLength);
      this.#take(message, this.#done);
    }
    this.#shrink(besideLength);
    if (this.#left + besideLength > this.#contextTokens * charactersPerTokenMost) return undefined;
    return this.#messages.map((message, place) => this.#shown.get(place) ?? message);
  }

  #take(message: Message, place: number): void {
    const size = this.#sizes.sizeOf(message);
    this.#left += size;
    if (message.role === "tool_result" && (size > resultKeptMin || hasMedia(message))) this.#results.push({ place, size });
    if (message.role === "user" && hasMedia(message)) this.#media.push({ place, size });
  }

  #shrink(besideLength: number): void {
    const full = this.#contextTokens * charactersPerToken - besideLength;
    if (this.#left <= full) return;
    const goal = full * filledAfterCut;
    this.#results = this.#cutSome(this.#results.sort(largestFirst), goal);
    const lastInput = this.#messages.findLastIndex(({ role }, place) => role === "user" && place < this.#done);
    const [now, earlier] = [this.#media.filter(({ place }) => place === lastInput), this.#media.filter(({ place }) => place !== lastInput)];
    this.#media = [...this.#cutSome(earlier, goal), ...now];
  }

  /** Cuts in the given order until the goal is reached; gives back what was spared. */
  #cutSome(candidates: readonly Candidate[], goal: number): Candidate[] {
    const spared = candidates.findIndex(({ place, size }) => {
      if (this.#left <= goal) return true;
      const shown = cut(this.#messages[place] as Message);
      this.#shown.set(place, shown);
      this.#left += this.#sizes.sizeOf(shown) - size;
      return false;
    });
    return spared < 0 ? [] : candidates.slice(spared);
  }
}

const largestFirst = (a: Candidate, b: Candidate): number => b.size - a.size || a.place - b.place;

const isMedia = (part: { readonly type: string }): part is ImagePart | FilePart => part.type === "image" || part.type === "file";

const hasMedia = ({ content }: UserMessage | ToolResultMessage): boolean => typeof content !== "string" && content.some(isMedia);

/** Messages as they are cut: the same object each time, so that providers may cache by identity. */
const cutMessages = new WeakMap<Message, Message>();

function cut(message: Message): Message {
  let shown = cutMessages.get(message);
  if (!shown) {
    shown = message.role === "tool_result" ? cutResult(message) : message.role === "user" ? withoutMedia(message) : message;
    cutMessages.set(message, shown);
  }
  return shown;
}

const leftOut = (what: string): string => `[${what} left out to fit the model's window]`;

function cutResult(message: ToolResultMessage): ToolResultMessage {
  const notes: string[] = [];
  let text = "";
  let length = 0;
  for (const part of partsOf<ResultPart>(message.content)) {
    if (isMedia(part)) notes.push(leftOut(describe(part)));
    else {
      const head =
        part.type === "text" ? { text: headOf(part.text, resultKeptMin), length: part.text.length } : jsonHead(part.value, resultKeptMin);
      text += `${text === "" ? "" : "\n"}${head.text}`;
      length += head.length;
    }
  }
  const kept = headOf(text, resultKeptMin);
  if (length > kept.length) notes.unshift(leftOut(`${length - kept.length} characters`));
  return { ...message, content: [...(kept === "" ? [] : [kept]), ...notes].join("\n") };
}

function withoutMedia(message: UserMessage): UserMessage {
  const content = partsOf<UserPart>(message.content).map(
    (part): UserPart => (isMedia(part) ? { type: "text", text: leftOut(describe(part)) } : part),
  );
  return { ...message, content };
}

const describe = (part: ImagePart | FilePart): string =>
  part.type === "file" && part.name !== undefined
    ? `the file ${headOf(part.name, 100)}`
    : `${part.type === "image" ? "an image" : "a file"}, ${part.mediaType},`;
