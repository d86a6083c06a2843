import type { ModelChunk } from "./chunk.ts";
import type { Json } from "./json.ts";
import { cutPosition, isSound, wellFormed, wellFormedJson } from "./well-formed-text.ts";

type DeltaChunk = Extract<ModelChunk, { readonly delta: string }>;

/**
 * Makes a stream well-formed before it is published or recorded: a surrogate pair that is cut between two deltas of a block comes out whole, in the later
 * one; a half without its other half becomes U+FFFD. A vendor refuses a request that holds such a half, so keeping it would end the session.
 */
export interface ChunkMender {
  pass(chunks: readonly ModelChunk[]): readonly ModelChunk[];
  /** Returns what is held back of a stream that ended early. */
  flush(): readonly ModelChunk[];
}

export function createChunkMender(): ChunkMender {
  return new HalfHolder();
}

class HalfHolder implements ChunkMender {
  /** Deltas that are the first half of a pair, by block. Few streams have any. */
  #held: Map<number, DeltaChunk> | undefined;

  pass(chunks: readonly ModelChunk[]): readonly ModelChunk[] {
    if (!this.#held?.size && chunks.every(isSoundChunk)) return chunks;
    const out: ModelChunk[] = [];
    for (const chunk of chunks) this.#take(chunk, out);
    return out;
  }

  flush(): readonly ModelChunk[] {
    const out: ModelChunk[] = [];
    this.#release(out, undefined);
    return out;
  }

  /** `index`: of the block that has ended; `undefined`: all blocks have ended. */
  #release(out: ModelChunk[], index: number | undefined): void {
    if (!this.#held) return;
    for (const [at, chunk] of this.#held) {
      if (index !== undefined && at !== index) continue;
      this.#held.delete(at);
      out.push({ ...chunk, delta: "\uFFFD" });
    }
  }

  #takeDelta(chunk: DeltaChunk, out: ModelChunk[]): void {
    this.#held ??= new Map();
    const { index } = chunk;
    const before = this.#held.get(index)?.delta ?? "";
    this.#held.delete(index);
    const text = before + chunk.delta;
    const cut = cutPosition(text, text.length);
    if (cut < text.length) this.#held.set(index, { ...chunk, delta: text.slice(cut) });
    const delta = wellFormed(text.slice(0, cut));
    if (delta === chunk.delta) out.push(chunk);
    else if (delta !== "") out.push({ ...chunk, delta });
  }

  #take(chunk: ModelChunk, out: ModelChunk[]): void {
    switch (chunk.type) {
      case "text":
      case "thinking":
      case "call-args":
        this.#takeDelta(chunk, out);
        return;
      case "block-end":
      case "call-end":
        this.#release(out, chunk.index);
        break;
      case "end":
        this.#release(out, undefined);
        break;
      // Blocks may interleave, so the beginning of a block ends no other block.
      case "call-start":
      case "opaque":
      case "usage":
      case "alive":
        break;
      default:
        chunk satisfies never;
    }
    out.push(wellFormedJson(chunk));
  }
}

/** Only the text of a delta comes from the vendor. */
const isSoundChunk = (chunk: ModelChunk): boolean => isSound("delta" in chunk ? chunk.delta : (chunk as Json));
