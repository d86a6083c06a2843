import type { ModelChunk } from "../../message/chunk.ts";
import type { AssistantPart } from "../../message/content.ts";
import { mapStrings } from "../../message/json.ts";
import type { TextWindow } from "../effects/text-window.ts";
import { type UserFilter, windowOf } from "../effects/user-filter.ts";
import { createArgumentsWindow } from "./arguments-window.ts";

type Delta = Extract<ModelChunk, { readonly delta: string }>;

/**
 * Passes what a model streams through the filters, each block with a window of its own. The end of a block is held back until the block is known to
 * be complete: by its end chunk, or with the answer, because blocks may interleave. What an attempt that was cut off holds back is never shown.
 */
export interface ChunkFilter {
  pass(chunks: readonly ModelChunk[]): readonly ModelChunk[];
  /** More of the block is to come, or is held back. */
  holds(index: number): boolean;
  /** The parts of a complete answer without what the filter would have changed in a form that only the vendor can read. */
  finish(parts: readonly AssistantPart[]): readonly AssistantPart[];
}

interface Block {
  readonly type: Delta["type"];
  readonly window: TextWindow;
}

export function createChunkFilter(filter: UserFilter): ChunkFilter {
  const blocks = new Map<number, Block>();
  /** What the vendor says of a block, until the block is complete. */
  const opaques = new Map<number, ModelChunk>();
  /** Complete thinking blocks that were changed. */
  const changed = new Set<number>();
  const mend = (text: string): string => filter.apply(text, "text");
  const isClean = (chunk: Extract<ModelChunk, { type: "opaque" }>): boolean =>
    JSON.stringify(mapStrings(chunk.data, mend)) === JSON.stringify(chunk.data);
  let losesOpaque = false;

  const passDelta = (chunk: Delta): readonly ModelChunk[] => {
    const block = blocks.get(chunk.index) ?? { type: chunk.type, window: newWindow(filter, chunk.type) };
    blocks.set(chunk.index, block);
    const delta = block.window.push(chunk.delta);
    return delta === "" && chunk.delta !== "" ? [] : [{ ...chunk, delta }];
  };

  /** A signature stands for the very words of its block, wherever in the stream it comes: it goes where they were changed. */
  const endBlock = (index: number): readonly ModelChunk[] => {
    const block = blocks.get(index);
    const opaque = opaques.get(index);
    blocks.delete(index);
    opaques.delete(index);
    const delta = block?.window.end() ?? "";
    if (block?.type === "thinking" && block.window.isChanged) changed.add(index);
    const rest: readonly ModelChunk[] = block && delta !== "" ? [{ type: block.type, index, delta }] : [];
    return opaque && !changed.has(index) ? [...rest, opaque] : rest;
  };

  const passOne = (chunk: ModelChunk): readonly ModelChunk[] => {
    switch (chunk.type) {
      case "text":
      case "thinking":
      case "call-args":
        return passDelta(chunk);
      case "block-end":
      case "call-end":
        return [...endBlock(chunk.index), chunk];
      case "opaque":
        if (isClean(chunk)) opaques.set(chunk.index, chunk);
        else losesOpaque ||= !blocks.has(chunk.index);
        return [];
      case "end": {
        const ends = [...new Set([...blocks.keys(), ...opaques.keys()])].flatMap(endBlock);
        return [...ends, chunk.message === undefined ? chunk : { ...chunk, message: mend(chunk.message) }];
      }
      default:
        return [chunk];
    }
  };

  return {
    pass: (chunks) => chunks.flatMap(passOne),
    holds: (index) => blocks.has(index),
    finish: (parts) =>
      parts.flatMap((part): readonly AssistantPart[] => {
        if (part.type === "opaque") return losesOpaque ? [] : [part];
        if (part.type !== "tool_call" || part.argsText === undefined) return [part];
        return [{ ...part, argsText: filter.apply(part.argsText, "arguments") }];
      }),
  };
}

function newWindow(filter: UserFilter, type: Delta["type"]): TextWindow {
  if (type !== "call-args") return windowOf(filter, type);
  return createArgumentsWindow((text) => filter.apply(text, "arguments"), filter.holdBack);
}
