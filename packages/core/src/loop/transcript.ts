import type { Message, MessageId } from "../message/message.ts";
import { at } from "./append-list.ts";
import { type Entry, type State, tipOf } from "./state.ts";

/** The path from the root to a message, oldest first, results of one turn in call order. */
export interface Transcript {
  /** Index of the last message; -1 if the path is empty. */
  readonly tip: number;
  readonly messages: readonly Message[];
  readonly ids: readonly MessageId[];
}

/** The path to the tip of the open run, or to the head. */
export function transcriptOf(state: State): Transcript {
  const transcript = createTranscript();
  followTranscript(transcript, state, tipOf(state));
  return transcript;
}

/** A transcript that `followTranscript` keeps up to date in place. */
export interface GrowingTranscript extends Transcript {
  tip: number;
  /** The entry of the last message. A path that contains it continues this transcript. */
  last: Entry | undefined;
  /** Incremented when the transcript was rebuilt: values that were derived from the old messages are then invalid. */
  generation: number;
  readonly messages: Message[];
  readonly ids: MessageId[];
  /** The summaries of results, by id: models read the summary in place of the result in all other runs. */
  readonly summaries: Map<MessageId, ResultSummary>;
}

/** The summary of a tool result, and the run in which models read the whole result. */
export interface ResultSummary {
  readonly text: string;
  readonly runId: string | undefined;
}

export function createTranscript(): GrowingTranscript {
  return { tip: -1, last: undefined, generation: 0, messages: [], ids: [], summaries: new Map() };
}

/** Updates the transcript to `tip` of the same log. Reads only the new messages if `tip` continues the transcript, otherwise the whole path. */
export function followTranscript(transcript: GrowingTranscript, state: State, tip: number): void {
  const added: Entry[] = [];
  let entry = at(state.history, tip);
  while (entry && entry !== transcript.last) {
    added.push(entry);
    entry = at(state.history, entry.parent);
  }
  if (entry !== transcript.last) {
    transcript.generation++;
    transcript.messages.length = 0;
    transcript.ids.length = 0;
    transcript.summaries.clear();
  }
  const from = transcript.messages.length;
  for (let index = added.length - 1; index >= 0; index--) {
    const { message, id, summary, runId } = added[index] as Entry;
    transcript.messages.push(message);
    transcript.ids.push(id);
    if (summary !== undefined) transcript.summaries.set(id, { text: summary, runId });
  }
  sortResults(transcript.messages, transcript.ids, from);
  transcript.tip = tip;
  transcript.last = at(state.history, tip);
}

/** The messages, with the results of each turn sorted in call order. */
export const inCallOrder = (messages: readonly Message[]): readonly Message[] => byCallOrder(messages, (message) => message);

/** The same for values that have a message. */
export function byCallOrder<One>(items: readonly One[], messageOf: (item: One) => Message): One[] {
  const messages = items.map(messageOf);
  const places = items.map((_, place) => place);
  sortResults(messages, places, 0);
  return places.map((place) => items[place] as One);
}

/** Results come right after their message. Sorts each group of results from `from` on in call order, including a group that begins before `from`. */
function sortResults(messages: Message[], beside: unknown[], from: number): void {
  let start = from;
  while (start > 0 && messages[start - 1]?.role === "tool_result") start--;
  for (let index = start; index < messages.length; index++) {
    if (messages[index]?.role !== "tool_result") continue;
    let end = index;
    while (messages[end]?.role === "tool_result") end++;
    if (end - index > 1) sortGroup({ messages, beside }, index, end);
    index = end - 1;
  }
}

function sortGroup({ messages, beside }: { messages: Message[]; beside: unknown[] }, start: number, end: number): void {
  const group = messages.slice(start, end).map((message, i) => ({ message, own: beside[start + i], order: orderOf(message) }));
  group.sort((a, b) => a.order - b.order);
  group.forEach(({ message, own }, i) => {
    messages[start + i] = message;
    beside[start + i] = own;
  });
}

/** The index at the end of the call key; results without a key keep their position. */
function orderOf(message: Message): number {
  if (message.role !== "tool_result" || !message.callKey) return 0;
  return Number(message.callKey.slice(message.callKey.lastIndexOf(".") + 1));
}
