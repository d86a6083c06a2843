import type { EphemeralBody } from "../../loop/event.ts";
import type { Assembler } from "../../message/assemble.ts";
import type { ModelChunk } from "../../message/chunk.ts";
import type { AssistantPart } from "../../message/content.ts";

/**
 * Tells a stream of chunks as events. Constant cost per chunk. A block ends when another begins, unless a filter holds some of it back; what a
 * vendor adds to it afterwards is told by one snapshot at the end.
 */
export interface ModelTeller {
  tell(chunks: readonly ModelChunk[]): readonly EphemeralBody[];
  /** The ends that are left: open text, and every call with its arguments. */
  finish(parts: readonly AssistantPart[]): readonly EphemeralBody[];
}

interface OpenText {
  readonly type: "text" | "thinking";
  /** Characters told: the assembler may be ahead by the rest of the batch. */
  toldLength: number;
}

/** `holds`: whether more of a block is to be told though another has begun. */
export function createModelTeller(
  assembler: Pick<Assembler, "textAt" | "partial">,
  holds: (index: number) => boolean = () => false,
): ModelTeller {
  const callIndexes: number[] = [];
  const ended = new Set<number>();
  const open = new Map<number, OpenText>();
  let isBehind = false;

  const endTexts = (out: EphemeralBody[], stays: (index: number) => boolean): void => {
    for (const [index, { type, toldLength }] of open) {
      if (stays(index)) continue;
      open.delete(index);
      ended.add(index);
      const text = assembler.textAt(index).slice(0, toldLength);
      out.push(type === "text" ? { type: "text_end", index, text } : { type: "thinking_end", index, thinking: text });
    }
  };

  const tellText = (chunk: Extract<ModelChunk, { type: "text" | "thinking" }>, out: EphemeralBody[]): void => {
    const { type, index, delta } = chunk;
    if (ended.has(index)) {
      isBehind = true;
      return;
    }
    let text = open.get(index);
    if (!text) {
      endTexts(out, holds);
      out.push(type === "text" ? { type: "text_start", index } : { type: "thinking_start", index });
      text = { type, toldLength: 0 };
      open.set(index, text);
    }
    text.toldLength += delta.length;
    out.push(type === "text" ? { type: "text_delta", index, delta } : { type: "thinking_delta", index, delta });
  };

  return {
    tell(chunks) {
      const out: EphemeralBody[] = [];
      for (const chunk of chunks) {
        if (chunk.type === "text" || chunk.type === "thinking") tellText(chunk, out);
        else if (chunk.type === "call-args") out.push({ type: "toolcall_delta", index: chunk.index, delta: chunk.delta });
        else if (chunk.type === "call-start") {
          endTexts(out, holds);
          callIndexes.push(chunk.index);
          out.push({ type: "toolcall_start", index: chunk.index, toolName: chunk.name });
        }
      }
      return out;
    },
    finish(parts) {
      const out: EphemeralBody[] = [];
      endTexts(out, () => false);
      if (isBehind) out.push({ type: "message_snapshot", content: assembler.partial() });
      const calls = parts.filter((part) => part.type === "tool_call");
      const indexes = [...callIndexes].sort((a, b) => a - b);
      calls.forEach((toolCall, i) => {
        out.push({ type: "toolcall_end", index: indexes[i] ?? i, toolCall });
      });
      return out;
    },
  };
}
