import type { Links, Token } from "marked";
import { completeInline } from "./complete-inline.ts";
import { lexBlock } from "./lex-block.ts";

/** A block that takes longer to read is not read again for each word that is added. */
const costMaxMs = 6;
/** But when it has grown by this share. */
const growth = 1.1;

/** What was read of a block. */
export interface ReadBlock {
  /** Absent where the block is not to be read. */
  readonly tokens: readonly Token[] | undefined;
  /** The end that is still to be read: shown as it is. */
  readonly rest: string;
  /** What `tokens` were read from. */
  readonly text: string;
  readonly isOpen: boolean;
  readonly links: Links;
  readonly costMs: number;
}

export interface ReadOptions {
  readonly text: string;
  /** More of it may come. */
  readonly isOpen: boolean;
  readonly links: Links;
  readonly before: ReadBlock | undefined;
  /** Milliseconds. */
  readonly now?: () => number;
}

/** The tokens of a block; those of `before` while nothing changed, or while reading is dear and little came. */
export function readBlock({ text, isOpen, links, before, now = () => performance.now() }: ReadOptions): ReadBlock {
  if (before && before.links === links) {
    if (before.text === text && before.isOpen === isOpen) return before;
    const isDear = isOpen && before.costMs > costMaxMs && text.length < before.text.length * growth;
    if (isDear && before.tokens && text.startsWith(before.text)) return { ...before, rest: text.slice(before.text.length) };
  }
  const start = now();
  const tokens = lexBlock(isOpen ? completeInline(text) : text, links);
  return { tokens, rest: "", text, isOpen, links, costMs: now() - start };
}
