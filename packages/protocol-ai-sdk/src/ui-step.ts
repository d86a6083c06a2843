/*
 * Owns: what a page has been given of one model call. A run may take text back (another attempt, a filter of the agent, a reader that missed
 * deltas): what was given is then compared with what is there. It is continued where it can be, else the step is reset and given anew.
 * `tool-input-available` makes a page run its tools: it is given at the end of the message alone, which no later attempt takes back.
 */
import type { AssistantPart, ToolCallPart } from "@loopwright/core/protocol";
import type { UiChunk, UiFile } from "./ui-chunk.ts";
import { fileOf } from "./ui-parts.ts";

/** A call whose arguments are being written. */
interface UnfinishedCall {
  readonly index: number;
  readonly toolName: string;
  readonly argsText: string;
}

/** A part as it is to be shown. */
type Wanted =
  | { readonly kind: "text" | "reasoning"; readonly text: string }
  | { readonly kind: "call"; readonly name: string; readonly text: string; readonly index?: number; readonly part?: ToolCallPart }
  | { readonly kind: "file"; readonly file: UiFile };

/** A part that a page was given. */
interface Given {
  readonly kind: Wanted["kind"];
  readonly id: string;
  /** The block of the model; `undefined` for what came in a snapshot. */
  index: number | undefined;
  readonly name: string;
  text: string;
  isOpen: boolean;
}

export class UiStep {
  readonly #runId: string;
  readonly #turn: number;
  #given: Given[] = [];

  constructor(runId: string, turn: number) {
    this.#runId = runId;
    this.#turn = turn;
  }

  /** A block begins: what a snapshot gave is complete. */
  begin(): readonly UiChunk[] {
    return this.#given.filter(({ isOpen, index, kind }) => isOpen && index === undefined && kind !== "call").flatMap(close);
  }

  /** More of a text or of a reasoning. */
  add(kind: "text" | "reasoning", index: number, delta: string): readonly UiChunk[] {
    if (delta === "") return [];
    const found = this.#given.find((one) => one.index === index && one.kind === kind) ?? this.#unnamed(kind);
    const begun = found ? [] : this.#open({ kind, text: "" }, index);
    const item = found ?? (this.#given.at(-1) as Given);
    item.index = index;
    // An ended block gets no more: the end of the message shows the difference.
    return item.isOpen ? [...begun, ...grow(item, delta)] : [];
  }

  /** A text or a reasoning is complete. */
  end(index: number): readonly UiChunk[] {
    return this.#given.filter((one) => one.index === index && one.isOpen && one.kind !== "call").flatMap(close);
  }

  beginCall(index: number, name: string): readonly UiChunk[] {
    return [...this.begin(), ...this.#open({ kind: "call", name, text: "" }, index)];
  }

  /** More of the arguments of a call. */
  addToCall(index: number, delta: string): readonly UiChunk[] {
    const item = this.#given.find((one) => one.index === index && one.kind === "call");
    return item && delta !== "" ? grow(item, delta) : [];
  }

  /** All that is there of the message, which is being written. */
  upTo(content: readonly AssistantPart[], calls: readonly UnfinishedCall[] = []): readonly UiChunk[] {
    const parts = wantedOf(content);
    const known = parts.filter(({ kind }) => kind === "call").length;
    const unfinished = calls
      .slice(known)
      .map(({ index, toolName, argsText }) => ({ kind: "call", name: toolName, text: argsText, index }) as const);
    return this.#match([...parts, ...unfinished], { isWhole: false });
  }

  /** The message is complete. */
  settle(content: readonly AssistantPart[]): readonly UiChunk[] {
    return this.#match(wantedOf(content), { isWhole: true });
  }

  /** No more comes of what is open. */
  close(): readonly UiChunk[] {
    return this.#given.filter(({ isOpen, kind }) => isOpen && kind !== "call").flatMap(close);
  }

  /** The attempt is discarded. */
  reset(): readonly UiChunk[] {
    if (this.#given.length === 0) return [];
    this.#given = [];
    return [{ type: "reset-step" }];
  }

  #unnamed(kind: Given["kind"]): Given | undefined {
    const last = this.#given.at(-1);
    return last?.isOpen && last.index === undefined && last.kind === kind ? last : undefined;
  }

  #open(wanted: Exclude<Wanted, { readonly kind: "file" }>, index: number | undefined): readonly UiChunk[] {
    const { kind } = wanted;
    const ordinal = this.#given.filter((one) => (one.kind === "call") === (kind === "call")).length;
    const id = kind === "call" ? `${this.#runId}.${this.#turn}.${ordinal}` : `${this.#turn}-${ordinal}`;
    const name = kind === "call" ? wanted.name : "";
    this.#given.push({ kind, id, index, name, text: "", isOpen: true });
    return [kind === "call" ? { type: "tool-input-start", toolCallId: id, toolName: name } : { type: `${kind}-start`, id }];
  }

  #match(wanted: readonly Wanted[], { isWhole }: { readonly isWhole: boolean }): readonly UiChunk[] {
    const isContinued = this.#given.length <= wanted.length && this.#given.every((one, at) => continues(one, wanted[at] as Wanted));
    const chunks = [...(isContinued ? [] : this.reset())];
    wanted.forEach((want, at) => {
      const isLast = at === wanted.length - 1;
      chunks.push(...this.#show(want, at), ...(isWhole || !isLast ? this.#finish(want, at, isWhole) : []));
    });
    return chunks;
  }

  #show(want: Wanted, at: number): readonly UiChunk[] {
    if (want.kind === "file") {
      if (this.#given[at]) return [];
      this.#given.push({ kind: "file", id: "", index: undefined, name: "", text: want.file.url, isOpen: false });
      return [want.file];
    }
    const begun = this.#given[at] ? [] : this.#open(want, want.kind === "call" ? want.index : undefined);
    const item = this.#given[at] as Given;
    const rest = want.text.startsWith(item.text) ? want.text.slice(item.text.length) : "";
    return rest === "" || !item.isOpen ? begun : [...begun, ...grow(item, rest)];
  }

  #finish(want: Wanted, at: number, isWhole: boolean): readonly UiChunk[] {
    const item = this.#given[at] as Given;
    if (want.kind !== "call") return item.isOpen ? close(item) : [];
    const { part } = want;
    if (!isWhole || !part) return [];
    item.isOpen = false;
    const call = { toolCallId: part.callKey, toolName: part.name };
    if (part.problem === undefined) return [{ type: "tool-input-available", ...call, input: part.args }];
    return [{ type: "tool-input-error", ...call, input: part.argsText ?? "", errorText: `The arguments cannot be used: ${part.problem}.` }];
  }
}

/** Whether what was given can become this part. Arguments are replaced by the call as it is at the end. */
function continues(given: Given, wanted: Wanted): boolean {
  if (given.kind !== wanted.kind) return false;
  if (wanted.kind === "file") return given.text === wanted.file.url;
  if (wanted.kind === "call") return given.name === wanted.name;
  return given.isOpen ? wanted.text.startsWith(given.text) : wanted.text === given.text;
}

function grow(item: Given, delta: string): readonly UiChunk[] {
  item.text += delta;
  if (item.kind === "call") return [{ type: "tool-input-delta", toolCallId: item.id, inputTextDelta: delta }];
  return [{ type: item.kind === "text" ? "text-delta" : "reasoning-delta", id: item.id, delta }];
}

function close(item: Given): readonly UiChunk[] {
  item.isOpen = false;
  return [{ type: item.kind === "text" ? "text-end" : "reasoning-end", id: item.id }];
}

function wantedOf(content: readonly AssistantPart[]): readonly Wanted[] {
  return content.flatMap((part): readonly Wanted[] => {
    if (part.type === "text") return part.text === "" ? [] : [{ kind: "text", text: part.text }];
    if (part.type === "thinking") return part.text === "" ? [] : [{ kind: "reasoning", text: part.text }];
    if (part.type === "image") return [{ kind: "file", file: fileOf(part) }];
    if (part.type === "tool_call") return [{ kind: "call", name: part.name, text: part.argsText ?? JSON.stringify(part.args), part }];
    return [];
  });
}
