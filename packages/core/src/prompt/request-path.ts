/*
 * Owns: the path as requests have it: summaries in place of compacted stretches and of results of earlier runs, and answers without refused thinking.
 * Does not own: what is valid for every vendor (valid-history), what is left out to fit a window (the context engine).
 * Invariants
 *  P1 the path at a state is the same, whether it grew with the log or is made at once from all of it;
 *  P2 a turn processes only what is new, and a compaction the path that remains.
 */
import type { Compaction, State } from "../loop/state.ts";
import type { GrowingTranscript } from "../loop/transcript.ts";
import type { Message, MessageId, ToolResultMessage } from "../message/message.ts";
import { soundMessage } from "../message/message-flaws.ts";
import { withoutThinking } from "./opaque-content.ts";
import { createValidHistory, type ValidHistory } from "./valid-history.ts";

export class RequestPath {
  readonly #transcript: GrowingTranscript;
  #generation: number;
  #refusedAt: number | undefined;
  /** The run whose results are shown whole. */
  #runId: string | undefined;
  /** The list of the transcript until something is compacted. */
  #messages: Message[];
  #ids: MessageId[];
  /** How many messages of the transcript are in the path. */
  #taken = 0;
  #compactions: readonly Compaction[] = [];
  /** The messages that replace compacted stretches. Each has the id of the first message that it replaced. */
  readonly #summaries = new WeakSet<Message>();
  #history: ValidHistory;

  constructor(transcript: GrowingTranscript) {
    this.#transcript = transcript;
    this.#generation = transcript.generation;
    this.#messages = transcript.messages;
    this.#ids = transcript.ids;
    this.#history = this.#begun();
  }

  /** The history at the state, which the transcript has followed. */
  historyAt(state: State): ValidHistory {
    const { thinkingRefusedAt, compactions } = state;
    const isNewRun = this.#runId !== state.run?.runId;
    this.#runId = state.run?.runId;
    const isVoid =
      this.#generation !== this.#transcript.generation ||
      this.#refusedAt !== thinkingRefusedAt ||
      this.#history.done > this.#messages.length ||
      this.#taken > this.#transcript.messages.length ||
      this.#compactions.at(-1) !== compactions[this.#compactions.length - 1];
    this.#refusedAt = thinkingRefusedAt;
    if (isVoid) this.#restart();
    else if (isNewRun) this.#history.summarise();
    this.#compact(compactions);
    this.#grow();
    this.#history.take(this.#messages);
    return this.#history;
  }

  #restart(): void {
    this.#generation = this.#transcript.generation;
    this.#messages = this.#transcript.messages;
    this.#ids = this.#transcript.ids;
    this.#taken = 0;
    this.#compactions = [];
    this.#history = this.#begun();
  }

  /** Adds the new messages of the transcript, if the path is a list of its own. */
  #grow(): void {
    const { messages, ids } = this.#transcript;
    if (this.#messages !== messages) {
      for (let at = this.#taken; at < messages.length; at++) {
        this.#messages.push(messages[at] as Message);
        this.#ids.push(ids[at] as MessageId);
      }
    }
    this.#taken = messages.length;
  }

  #compact(compactions: readonly Compaction[]): void {
    if (compactions === this.#compactions || compactions.length === this.#compactions.length) return;
    this.#grow();
    let isChanged = false;
    for (const compaction of compactions.slice(this.#compactions.length)) isChanged = this.#apply(compaction) || isChanged;
    this.#compactions = compactions;
    if (isChanged) this.#history = this.#begun();
  }

  /** Puts the summary in place of the stretch; false: the stretch is not on the path, and is left alone. */
  #apply({ from, to, summary, pinned = [] }: Compaction): boolean {
    const start = this.#ids.indexOf(from);
    const end = this.#ids.indexOf(to);
    if (start < 0 || end < start) return false;
    const stand: Message = { role: "notice", text: `Summary of the conversation so far:\n${summary}` };
    const kept: [Message, MessageId][] = [[stand, from]];
    for (let at = start; at <= end; at++) {
      const id = this.#ids[at] as MessageId;
      const message = this.#messages[at] as Message;
      if (pinned.includes(id) && !this.#summaries.has(message)) kept.push([message, id]);
    }
    this.#summaries.add(stand);
    const put = <Item>(list: readonly Item[], items: readonly Item[]): Item[] => [
      ...list.slice(0, start),
      ...items,
      ...list.slice(end + 1),
    ];
    this.#messages = put(
      this.#messages,
      kept.map(([message]) => message),
    );
    this.#ids = put(
      this.#ids,
      kept.map(([, id]) => id),
    );
    return true;
  }

  #begun(): ValidHistory {
    return createValidHistory({
      asTaken: (message, at) => this.#asTaken(message, this.#ids[at] ?? ""),
      idAt: (at) => this.#ids[at],
      summaryOf: (at) => this.#summaryOf(at),
    });
  }

  /** The message as requests have it. An answer from before a refusal of thinking has no thinking; a result of another run is its summary, if it has one. */
  #asTaken(message: Message, id: MessageId): Message {
    if (message.role === "tool_result") {
      const summary = this.#transcript.summaries.get(id);
      return summary && summary.runId !== this.#runId ? summarised(message, summary.text) : message;
    }
    if (this.#refusedAt === undefined || message.role !== "assistant") return message;
    return Number.parseInt(id, 10) < this.#refusedAt ? withoutThinking(message) : message;
  }

  /** The summary of a result that this run shows whole. */
  #summaryOf(at: number): Message | undefined {
    const summary = this.#transcript.summaries.get(this.#ids[at] ?? "");
    if (summary?.runId !== this.#runId || summary === undefined) return undefined;
    const message = soundMessage(this.#messages[at] as Message);
    return message.role === "tool_result" ? summarised(message, summary.text) : undefined;
  }
}

/** Results as later runs see them; kept as long as the result, so that providers may cache by identity. */
const inLaterRuns = new WeakMap<ToolResultMessage, ToolResultMessage>();

function summarised(message: ToolResultMessage, text: string): ToolResultMessage {
  const known = inLaterRuns.get(message);
  if (known) return known;
  const summary = { ...message, content: text };
  inLaterRuns.set(message, summary);
  return summary;
}
