/*
 * Owns: the items of one response, as its events come, and the numbers of its frames. Pure.
 * Invariants
 *  R1 a text is one item, opened with its first letter and closed before the next item opens;
 *  R2 an item that is taken back is closed as `incomplete` and is not in `output`; what replaces it has another id;
 *  R3 the number of a frame is its place in the transcript: it counts attempts, which are in the log, and within one the frames and the letters. A response that is
 *     read from the log has other deltas, and the same letter has the same number.
 */
import { type AgentEvent, type AssistantPart, addSpent, type PendingToolCall, type Usage } from "@loopwright/core/protocol";
import { callIdOf } from "./call-ids.ts";
import type { ResponseItem } from "./response-object.ts";

/** What a stream gives of a response beside its states. */
export interface ItemFrame {
  readonly type: string;
  readonly sequence_number: number;
  readonly delta?: string;
  readonly [field: string]: unknown;
}

/** Frames and letters of one attempt; more would take longer than any run. */
const placesOfAttempt = 2 ** 32;

interface TextItem {
  readonly id: string;
  readonly at: number;
  readonly kind: "text" | "thinking";
  /** Index of the block of the message. */
  readonly block: number;
  text: string;
}

const wordsOf = {
  text: { item: "message", prefix: "msg", part: "output_text", event: "output_text" },
  thinking: { item: "reasoning", prefix: "rs", part: "reasoning_text", event: "reasoning_text" },
} as const;

/** The items of one response. */
export class ResponseItems {
  readonly #seq: number;
  /** Items before the message that is being written. */
  #whole: ResponseItem[] = [];
  /** Of the message that is being written; the last one may be open. */
  #written: TextItem[] = [];
  #isOpen = false;
  /** 0: before the first attempt. */
  #attempt = 1;
  #place = 0;
  #items = 0;
  #itemsOfAttempt = 0;
  #usage: { readonly usage?: Usage } = {};
  /** The first text of an attempt, if blocks before it were not seen: a snapshot that follows at once has those, too. */
  #early: { readonly block: number; readonly delta: string } | undefined;

  readonly #isFormed: boolean;

  /** `seq`: the first fact of the response. `isFormed`: `output` has the text of the last message alone. */
  constructor({ seq, isFormed }: { readonly seq: number; readonly isFormed: boolean }) {
    this.#seq = seq;
    this.#isFormed = isFormed;
  }

  get output(): readonly ResponseItem[] {
    return this.#whole;
  }

  get usage(): Usage | undefined {
    return this.#usage.usage;
  }

  /** The number of a frame that is none of an item and comes next. */
  next(): number {
    this.#place += 1;
    return this.#attempt * placesOfAttempt + this.#place;
  }

  /** What an event adds. */
  take(event: AgentEvent): readonly ItemFrame[] {
    const early = event.type === "message_snapshot" ? undefined : this.#early;
    this.#early = undefined;
    if (early) return [...this.#add({ kind: "text", block: early.block }, early.delta), ...this.#taken(event)];
    if (event.type !== "text_delta" || event.index === 0 || this.#written.length > 0) return this.#taken(event);
    this.#early = { block: event.index, delta: event.delta };
    return [];
  }

  #taken(event: AgentEvent): readonly ItemFrame[] {
    switch (event.type) {
      case "text_delta":
        return this.#add({ kind: "text", block: event.index }, event.delta);
      case "thinking_delta":
        return this.#add({ kind: "thinking", block: event.index }, event.delta);
      case "message_snapshot":
        return this.#become(event.content);
      case "attempt_discarded":
        this.#usage = addSpent(this.#usage, event);
        return [...this.#withdrawFrom(0), ...this.#endAttempt()];
      case "message_end":
        return event.message.role === "assistant" ? this.#endMessage(event.message.content, event) : [];
      default:
        return [];
    }
  }

  /** Items of calls that wait for the caller. */
  addCalls(calls: readonly PendingToolCall[], session: string): readonly ItemFrame[] {
    return calls.flatMap(({ toolCallId, toolName, args }) => {
      const text = JSON.stringify(args);
      const call = { type: "function_call", id: this.#newId("fc"), call_id: callIdOf({ session, toolCallId }), name: toolName } as const;
      const at = this.#items++;
      const of = { item_id: call.id, output_index: at };
      const item: ResponseItem = { ...call, status: "completed", arguments: text };
      this.#whole.push(item);
      return [
        this.#frame("output_item.added", { output_index: at, item: { ...call, status: "in_progress", arguments: "" } }),
        this.#delta("function_call_arguments.delta", of, text),
        this.#frame("function_call_arguments.done", { ...of, name: toolName, arguments: text }),
        this.#frame("output_item.done", { output_index: at, item }),
      ];
    });
  }

  /** A text that no model wrote, as an item of its own. */
  addNote(text: string): readonly ItemFrame[] {
    return [...this.#add({ kind: "text", block: 0 }, text), ...this.#endTexts()];
  }

  #endMessage(parts: readonly AssistantPart[], spent: { readonly usage?: Usage }): readonly ItemFrame[] {
    this.#usage = addSpent(this.#usage, spent);
    return [...this.#become(parts), ...this.#endTexts()];
  }

  #endTexts(): readonly ItemFrame[] {
    const closing = this.#close("completed");
    if (this.#isFormed) this.#whole = this.#whole.filter(({ type }) => type !== "message");
    this.#whole.push(...this.#written.map((item) => textItem(item, "completed")));
    this.#written = [];
    return [...closing, ...this.#endAttempt()];
  }

  #endAttempt(): readonly ItemFrame[] {
    this.#attempt += 1;
    this.#place = 0;
    this.#itemsOfAttempt = 0;
    return [];
  }

  #add({ kind, block }: Pick<TextItem, "kind" | "block">, delta: string): readonly ItemFrame[] {
    if (delta === "") return [];
    const last = this.#isOpen ? this.#written.at(-1) : undefined;
    if (last && last.kind === kind && last.block === block) return [this.#grow(last, delta)];
    const closing = this.#close("completed");
    return [...closing, ...this.#open({ kind, block }, delta)];
  }

  /** Gives what these parts have beyond what was given, and takes back what they do not have. */
  #become(parts: readonly AssistantPart[]): readonly ItemFrame[] {
    const wanted = parts.flatMap((part, block) =>
      (part.type === "text" || part.type === "thinking") && part.text !== "" ? [{ kind: part.type, block, text: part.text }] : [],
    );
    const frames: ItemFrame[] = [];
    for (const [at, { text, ...of }] of wanted.entries()) {
      const given = this.#written[at];
      const isLast = at === this.#written.length - 1;
      if (given && given.kind === of.kind && (given.text === text || (isLast && this.#isOpen && text.startsWith(given.text)))) {
        if (given.text !== text) frames.push(this.#grow(given, text.slice(given.text.length)));
        continue;
      }
      if (given) frames.push(...this.#withdrawFrom(at));
      frames.push(...this.#close("completed"), ...this.#open(of, text));
    }
    return this.#written.length > wanted.length ? [...frames, ...this.#withdrawFrom(wanted.length)] : frames;
  }

  /** Takes texts of this message back. */
  #withdrawFrom(first: number): readonly ItemFrame[] {
    const closing = this.#close(this.#written.length > first ? "incomplete" : "completed");
    this.#written = this.#written.slice(0, first);
    return closing;
  }

  #open({ kind, block }: Pick<TextItem, "kind" | "block">, text: string): readonly ItemFrame[] {
    const item: TextItem = { id: this.#newId(wordsOf[kind].prefix), at: this.#items++, kind, block, text: "" };
    this.#written.push(item);
    this.#isOpen = true;
    return [
      this.#frame("output_item.added", { output_index: item.at, item: textItem(item, "in_progress") }),
      this.#frame("content_part.added", { ...placeOf(item), part: partOf(item) }),
      this.#grow(item, text),
    ];
  }

  #grow(item: TextItem, delta: string): ItemFrame {
    item.text += delta;
    const { event } = wordsOf[item.kind];
    return this.#delta(`${event}.delta`, { ...placeOf(item), ...(item.kind === "text" ? { logprobs: [] } : {}) }, delta);
  }

  #close(status: "completed" | "incomplete"): readonly ItemFrame[] {
    const item = this.#isOpen ? this.#written.at(-1) : undefined;
    this.#isOpen = false;
    if (!item) return [];
    const { event } = wordsOf[item.kind];
    return [
      this.#frame(`${event}.done`, { ...placeOf(item), text: item.text, ...(item.kind === "text" ? { logprobs: [] } : {}) }),
      this.#frame("content_part.done", { ...placeOf(item), part: partOf(item) }),
      this.#frame("output_item.done", { output_index: item.at, item: textItem(item, status) }),
    ];
  }

  #newId(prefix: string): string {
    return `${prefix}_${this.#seq}_${this.#attempt}_${this.#itemsOfAttempt++}`;
  }

  #frame(type: string, fields: object): ItemFrame {
    return { type: `response.${type}`, sequence_number: this.next(), ...fields };
  }

  #delta(type: string, fields: object, delta: string): ItemFrame {
    this.#place += delta.length - 1;
    return { ...this.#frame(type, fields), delta };
  }
}

const placeOf = ({ id, at }: TextItem): object => ({ item_id: id, output_index: at, content_index: 0 });

const partOf = ({ kind, text }: TextItem): ResponseItem["content"] =>
  kind === "text" ? { type: "output_text", text, annotations: [], logprobs: [] } : { type: "reasoning_text", text };

function textItem(item: TextItem, status: "in_progress" | "completed" | "incomplete"): ResponseItem {
  const content = status === "in_progress" ? [] : [partOf(item) ?? null];
  const head = { id: item.id, status, content } as const;
  return item.kind === "text" ? { ...head, type: "message", role: "assistant" } : { ...head, type: "reasoning", summary: [] };
}

/** The frames after a number that a client has: nothing of what it has comes again, also where the border is within a delta. */
export function framesAfter(frames: readonly ItemFrame[], number: number): readonly ItemFrame[] {
  return frames.flatMap((frame) => {
    const { sequence_number: end, delta } = frame;
    if (end <= number) return [];
    const had = delta === undefined ? 0 : number - (end - delta.length);
    return had > 0 && delta !== undefined ? [{ ...frame, delta: delta.slice(had) }] : [frame];
  });
}
