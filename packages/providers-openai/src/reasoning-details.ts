import type { Json } from "@loopwright/core";

/** A piece of OpenRouter's `reasoning_details`. @see https://openrouter.ai/docs/use-cases/reasoning-tokens (2026-11-21) */
export interface ReasoningDetail {
  readonly type?: string;
  readonly index?: number;
  readonly [field: string]: Json | undefined;
}

/** The fields whose pieces belong together; of any other field the last value counts. */
const joined: ReadonlySet<string> = new Set(["text", "summary", "data"]);

/** Joins the pieces of `reasoning_details`: the server expects them back in the form of an unstreamed answer. */
export interface ReasoningDetails {
  add(pieces: readonly ReasoningDetail[]): void;
  all(): readonly { readonly [field: string]: Json }[];
}

/** An empty collection. Adding a piece has constant cost. */
export function createReasoningDetails(): ReasoningDetails {
  const blocks: { readonly fields: Record<string, Json>; readonly pieces: Record<string, string[]> }[] = [];
  const add = (piece: ReasoningDetail): void => {
    const last = blocks.at(-1);
    const isSame = last !== undefined && last.fields["type"] === piece.type && last.fields["index"] === piece.index;
    const block = isSame ? last : { fields: {}, pieces: {} };
    if (!isSame) blocks.push(block);
    for (const [field, value] of Object.entries(piece)) {
      if (value === undefined || (value === null && field in block.fields)) continue;
      if (joined.has(field) && typeof value === "string") {
        block.pieces[field] ??= [];
        block.pieces[field].push(value);
      }
      block.fields[field] = value;
    }
  };
  return {
    add: (pieces) => {
      for (const piece of pieces) add(piece);
    },
    all: () =>
      blocks.map(({ fields, pieces }) => {
        const whole = { ...fields };
        for (const [field, texts] of Object.entries(pieces)) whole[field] = texts.join("");
        return whole;
      }),
  };
}
