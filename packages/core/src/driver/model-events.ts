import type { EphemeralBody } from "../loop/event.ts";
import type { Assembler } from "../message/assemble.ts";
import type { ModelChunk } from "../message/chunk.ts";
import type { AssistantPart } from "../message/content.ts";

/**
 * Tells a stream of chunks as events. Constant cost per chunk. A block ends when another begins; what a vendor adds to it afterwards is told by
 * one snapshot at the end.
 */
export interface ModelTeller {
  tell(chunks: readonly ModelChunk[]): readonly EphemeralBody[];
  /** The ends that are left: open text, and every call with its arguments. */
  finish(parts: readonly AssistantPart[]): readonly EphemeralBody[];
}

export function createModelTeller(assembler: Pick<Assembler, "textAt" | "partial">): ModelTeller {
  const kinds: ("text" | "thinking" | "call" | undefined)[] = [];
  const callIndexes: number[] = [];
  const ended = new Set<number>();
  let openText = -1;
  /** Characters told of the open block: the assembler may be ahead by the rest of the batch. */
  let toldLength = 0;
  let isBehind = false;

  const endText = (): EphemeralBody | undefined => {
    const index = openText;
    openText = -1;
    if (index < 0) return undefined;
    ended.add(index);
    const text = assembler.textAt(index).slice(0, toldLength);
    return kinds[index] === "text" ? { type: "text_end", index, text } : { type: "thinking_end", index, thinking: text };
  };

  const tellText = (chunk: Extract<ModelChunk, { type: "text" | "thinking" }>, out: EphemeralBody[]): void => {
    const { type, index, delta } = chunk;
    if (ended.has(index)) {
      isBehind = true;
      return;
    }
    if (openText !== index) {
      const end = endText();
      if (end) out.push(end);
      out.push(type === "text" ? { type: "text_start", index } : { type: "thinking_start", index });
      kinds[index] = type;
      openText = index;
      toldLength = 0;
    }
    toldLength += delta.length;
    out.push(type === "text" ? { type: "text_delta", index, delta } : { type: "thinking_delta", index, delta });
  };

  return {
    tell(chunks) {
      const out: EphemeralBody[] = [];
      for (const chunk of chunks) {
        if (chunk.type === "text" || chunk.type === "thinking") tellText(chunk, out);
        else if (chunk.type === "call-args") out.push({ type: "toolcall_delta", index: chunk.index, delta: chunk.delta });
        else if (chunk.type === "call-start") {
          const end = endText();
          if (end) out.push(end);
          kinds[chunk.index] = "call";
          callIndexes.push(chunk.index);
          out.push({ type: "toolcall_start", index: chunk.index, toolName: chunk.name });
        }
      }
      return out;
    },
    finish(parts) {
      const out: EphemeralBody[] = [];
      const end = endText();
      if (end) out.push(end);
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
