import type { StreamFilter } from "../agent/hooks.ts";
import type { ModelChunk } from "../message/chunk.ts";

type Kind = "text" | "thinking";

/** Passes streamed text through filters, holding back the end of a block until the next one begins, so that a pattern may span deltas. */
export interface ChunkFilter {
  pass(chunks: readonly ModelChunk[]): readonly ModelChunk[];
  /** What was held back, filtered: before the stream ends, or when it was cut off. */
  flush(): readonly ModelChunk[];
}

export function createChunkFilter(
  filters: readonly StreamFilter[],
  apply: (filter: StreamFilter, text: string, kind: Kind) => string,
): ChunkFilter {
  const holdBack = Math.max(0, ...filters.map((filter) => filter.holdBack ?? 0));
  const held = new Map<number, { kind: Kind; text: string }>();
  const filtered = (text: string, kind: Kind): string => filters.reduce((said, filter) => apply(filter, said, kind), text);

  const passText = (chunk: Extract<ModelChunk, { type: Kind }>): ModelChunk | undefined => {
    const text = filtered((held.get(chunk.index)?.text ?? "") + chunk.delta, chunk.type);
    const shown = text.length > holdBack ? text.slice(0, text.length - holdBack) : "";
    held.set(chunk.index, { kind: chunk.type, text: text.slice(shown.length) });
    return shown === "" ? undefined : { ...chunk, delta: shown };
  };

  /** What is held of every block but this one. */
  const flush = (but?: number): readonly ModelChunk[] => {
    const rest: ModelChunk[] = [];
    for (const [index, { kind, text }] of held) {
      if (index === but) continue;
      held.delete(index);
      if (text !== "") rest.push({ type: kind, index, delta: text });
    }
    return rest;
  };

  return {
    flush: () => flush(),
    pass(chunks) {
      const out: ModelChunk[] = [];
      for (const chunk of chunks) {
        if (chunk.type === "text" || chunk.type === "thinking") {
          out.push(...flush(chunk.index));
          const shown = passText(chunk);
          if (shown) out.push(shown);
          continue;
        }
        if (chunk.type === "call-start" || chunk.type === "end") out.push(...flush());
        out.push(chunk);
      }
      return out;
    },
  };
}
