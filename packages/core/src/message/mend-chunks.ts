import type { ModelChunk } from "./chunk.ts";
import type { Json } from "./json.ts";
import { isSound, wellFormed, wellFormedJson } from "./well-formed.ts";

type DeltaChunk = Extract<ModelChunk, { readonly delta: string }>;

/**
 * Makes a stream well-formed before it is published or recorded: a surrogate pair that is cut between two deltas of a block comes out whole, in the later
 * one; a half without its other half becomes U+FFFD. A vendor refuses a request that holds such a half, so a kept one would end the session.
 */
export interface ChunkMender {
  pass(chunks: readonly ModelChunk[]): readonly ModelChunk[];
  /** What is held of a stream that ended early. */
  flush(): readonly ModelChunk[];
}

export function createChunkMender(): ChunkMender {
  /** Deltas that are the first half of a pair, by block. */
  const held = new Map<number, DeltaChunk>();

  const release = (out: ModelChunk[], fits: (chunk: DeltaChunk) => boolean): void => {
    for (const [index, chunk] of held) {
      if (!fits(chunk)) continue;
      held.delete(index);
      out.push({ ...chunk, delta: "\uFFFD" });
    }
  };

  const takeDelta = (chunk: DeltaChunk, out: ModelChunk[]): void => {
    const { index } = chunk;
    const before = held.get(index)?.delta ?? "";
    held.delete(index);
    const text = before + chunk.delta;
    const cut = endsInHalf(text) ? text.length - 1 : text.length;
    if (cut < text.length) held.set(index, { ...chunk, delta: text.slice(cut) });
    const delta = wellFormed(text.slice(0, cut));
    if (delta === chunk.delta) out.push(chunk);
    else if (delta !== "") out.push({ ...chunk, delta });
  };

  const take = (chunk: ModelChunk, out: ModelChunk[]): void => {
    switch (chunk.type) {
      case "text":
      case "thinking":
      case "call-args":
        takeDelta(chunk, out);
        return;
      case "block-end":
      case "call-end":
        release(out, ({ index }) => index === chunk.index);
        break;
      case "end":
        release(out, () => true);
        break;
      // Blocks may interleave, so the beginning of another one ends nothing.
      case "call-start":
      case "opaque":
      case "usage":
      case "alive":
        break;
      default:
        chunk satisfies never;
    }
    out.push(wellFormedJson(chunk));
  };

  return {
    pass(chunks) {
      if (held.size === 0 && chunks.every((chunk) => isSound(chunk as Json))) return chunks;
      const out: ModelChunk[] = [];
      for (const chunk of chunks) take(chunk, out);
      return out;
    },
    flush() {
      const out: ModelChunk[] = [];
      release(out, () => true);
      return out;
    },
  };
}

function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
