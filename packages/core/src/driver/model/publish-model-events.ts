import type { EphemeralBody } from "../../loop/event.ts";
import type { Assembler } from "../../message/assemble-message.ts";
import type { ModelChunk } from "../../message/chunk.ts";
import type { AssistantPart } from "../../message/content.ts";

/**
 * Turns a stream of chunks into events. Constant cost per chunk. A block ends when another begins, unless a filter holds back some of its text.
 * What a vendor adds to a block that has ended is published at the end of the answer, in one snapshot.
 */
export interface ModelPublisher {
  publish(chunks: readonly ModelChunk[]): readonly EphemeralBody[];
  /** Takes chunks while there is no subscriber: tracks the blocks but makes no events. True if the chunks have content. */
  passOver(chunks: readonly ModelChunk[]): boolean;
  /** The end events that are still due: of open text blocks, and of every call with its arguments. */
  finish(parts: readonly AssistantPart[]): readonly EphemeralBody[];
}

type TextChunk = Extract<ModelChunk, { type: "text" | "thinking" }>;

interface OpenText {
  readonly type: "text" | "thinking";
  /** Characters published so far. The assembler may hold more: it takes a whole batch before the batch is published. */
  publishedLength: number;
}

/** `holds`: whether a block stays open when another begins, because more of it will be published. */
export function createModelPublisher(
  assembler: Pick<Assembler, "textAt" | "partial">,
  holds: (index: number) => boolean = holdsNothing,
): ModelPublisher {
  return new ChunkPublisher(assembler, holds);
}

const holdsNothing = (): boolean => false;

class ChunkPublisher implements ModelPublisher {
  readonly #assembler: Pick<Assembler, "textAt" | "partial">;
  readonly #holds: (index: number) => boolean;
  readonly #callIndexes: number[] = [];
  /** Blocks that have ended. */
  readonly #ended = new Set<number>();
  readonly #open = new Map<number, OpenText>();
  #isBehind = false;

  constructor(assembler: Pick<Assembler, "textAt" | "partial">, holds: (index: number) => boolean) {
    this.#assembler = assembler;
    this.#holds = holds;
  }

  publish(chunks: readonly ModelChunk[]): readonly EphemeralBody[] {
    const out: EphemeralBody[] = [];
    for (const chunk of chunks) {
      if (chunk.type === "text" || chunk.type === "thinking") this.#publishText(chunk, out);
      else if (chunk.type === "call-args") out.push({ type: "toolcall_delta", index: chunk.index, delta: chunk.delta });
      else if (chunk.type === "call-start") {
        this.#endTexts(out, this.#holds);
        this.#callIndexes.push(chunk.index);
        out.push({ type: "toolcall_start", index: chunk.index, toolName: chunk.name });
      }
    }
    return out;
  }

  passOver(chunks: readonly ModelChunk[]): boolean {
    let isWritten = false;
    for (const chunk of chunks) {
      if (chunk.type === "text" || chunk.type === "thinking") {
        if (this.#textOf(chunk)) isWritten = true;
      } else if (chunk.type === "call-start") {
        this.#endTexts(undefined, this.#holds);
        this.#callIndexes.push(chunk.index);
        isWritten = true;
      } else if (chunk.type === "call-args") isWritten = true;
    }
    return isWritten;
  }

  finish(parts: readonly AssistantPart[]): readonly EphemeralBody[] {
    const out: EphemeralBody[] = [];
    this.#endTexts(out, holdsNothing);
    if (this.#isBehind) out.push({ type: "message_snapshot", content: this.#assembler.partial() });
    const calls = parts.filter((part) => part.type === "tool_call");
    const indexes = [...this.#callIndexes].sort((a, b) => a - b);
    calls.forEach((toolCall, i) => {
      out.push({ type: "toolcall_end", index: indexes[i] ?? i, toolCall });
    });
    return out;
  }

  #endTexts(out: EphemeralBody[] | undefined, stays: (index: number) => boolean): void {
    for (const [index, { type, publishedLength }] of this.#open) {
      if (stays(index)) continue;
      this.#open.delete(index);
      this.#ended.add(index);
      if (!out) continue;
      const text = this.#assembler.textAt(index).slice(0, publishedLength);
      out.push(type === "text" ? { type: "text_end", index, text } : { type: "thinking_end", index, thinking: text });
    }
  }

  #publishText(chunk: TextChunk, out: EphemeralBody[]): void {
    if (!this.#textOf(chunk, out)) return;
    const { type, index, delta } = chunk;
    out.push(type === "text" ? { type: "text_delta", index, delta } : { type: "thinking_delta", index, delta });
  }

  /** The open block that the chunk continues or begins. `undefined` if the block has ended: `finish` then publishes the addition. */
  #textOf({ type, index, delta }: TextChunk, out?: EphemeralBody[]): OpenText | undefined {
    if (this.#ended.has(index)) {
      this.#isBehind = true;
      return undefined;
    }
    let text = this.#open.get(index);
    if (!text) {
      this.#endTexts(out, this.#holds);
      out?.push(type === "text" ? { type: "text_start", index } : { type: "thinking_start", index });
      text = { type, publishedLength: 0 };
      this.#open.set(index, text);
    }
    text.publishedLength += delta.length;
    return text;
  }
}
