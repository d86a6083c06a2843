import { inertText } from "../conversation/markdown/plain-text.tsx";

/** The end of a sentence: its sign, what closes with it, and white space behind; or the end of a line. */
const end = /[.!?…]["'”’)\]*_`]*(?=\s)|\n+/g;

/** The sentences of a growing text that were completed since `from`, as plain words, and the position of their end. */
export function finishedSentences(text: string, from: number): { readonly words: string; readonly upTo: number } {
  let upTo = from;
  end.lastIndex = from;
  for (let found = end.exec(text); found; found = end.exec(text)) upTo = found.index + found[0].length;
  return { words: spoken(text.slice(from, upTo)), upTo };
}

/** Markdown without the signs that a screen reader should not read. */
export function spoken(markdown: string): string {
  return inertText(markdown)
    .replaceAll(/^\s*(?:#{1,6}|>|[-*+]|\|?[\s:|-]+\|)\s*/gm, "")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[*_`~|]+/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}
