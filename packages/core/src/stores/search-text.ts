import type { Fact } from "../loop/fact.ts";
import { type Message, textOf } from "../message/message.ts";

/** Longest excerpt of a hit, in UTF-16 units. */
const excerptMax = 200;

/** Ideographs and syllables are written without spaces: each counts as a word of its own. */
const unspaced = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]";
const word = new RegExp(`${unspaced}|(?:(?!${unspaced})[\\p{L}\\p{N}\\p{M}])+`, "gu");

/** The texts of a fact that a search looks through: what people and the model wrote, not tools and not thinking. */
export function searchTextsOf(fact: Fact): readonly string[] {
  switch (fact.type) {
    case "session.opened":
      return (fact.context ?? []).flatMap(spokenText);
    case "input.accepted":
      return fact.message ? spokenText(fact.message) : [];
    case "model.finished":
      return spokenText(fact.message);
    default:
      return [];
  }
}

function spokenText(message: Message): readonly string[] {
  if (message?.role !== "user" && message?.role !== "assistant") return [];
  const text = textOf(message);
  return text === "" ? [] : [text];
}

/** The words of a text, in order, without case and accents. */
export function searchWords(text: string): readonly string[] {
  return (text.match(word) ?? []).map(foldWord).filter((folded) => folded !== "");
}

/** Matches words of which folding changes only the case: most words. */
const plain = /^[a-zA-Z0-9]+$/;

function foldWord(text: string): string {
  if (plain.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}]/gu, "")
    .toLowerCase();
}

const ascii = /^[^\u0080-\uffff]*$/;

/** How well texts match. */
export interface TextMatch {
  /** The first text that holds one of the sought words. */
  readonly text: string;
  /** The larger the share of matching words, the higher. */
  readonly score: number;
}

/** The match of texts that together hold every sought word (of `searchWords`), or a longer word that begins with it; `undefined`: no match. */
export function matchTexts(texts: readonly string[], sought: readonly string[]): TextMatch | undefined {
  const missing = new Set(sought);
  let first = "";
  let score = 0;
  for (const text of texts) {
    if (hasNone(text, sought)) continue;
    const words = searchWords(text);
    const matches = words.filter((word) => {
      const found = sought.filter((start) => word.startsWith(start));
      for (const start of found) missing.delete(start);
      return found.length > 0;
    });
    if (matches.length > 0 && first === "") first = text;
    if (words.length > 0) score += matches.length / Math.sqrt(words.length);
  }
  return missing.size > 0 ? undefined : { text: first, score };
}

/** True if the text has no sought word for certain, without splitting it. Decides ASCII alone, of which folding changes only the case. */
function hasNone(text: string, sought: readonly string[]): boolean {
  if (!ascii.test(text)) return false;
  const lower = text.toLowerCase();
  return !sought.some((start) => lower.includes(start));
}

/** A piece of the text around the first word that begins with one of the words sought: plain text, one line. */
export function excerptAround(text: string, sought: readonly string[]): string {
  let at = 0;
  for (const match of text.matchAll(word)) {
    const folded = foldWord(match[0]);
    if (!sought.some((start) => folded.startsWith(start))) continue;
    at = match.index;
    break;
  }
  // A third before the match, the rest after it; neither end splits a surrogate pair.
  const from = wholeCharacter(text, Math.max(0, Math.min(at - 60, text.length - (excerptMax - 2))));
  const to = wholeCharacter(text, Math.min(text.length, from + excerptMax - 2));
  const piece = text.slice(from, to).replace(/\s+/gu, " ").trim();
  return `${from > 0 ? "…" : ""}${piece}${to < text.length ? "…" : ""}`;
}

function wholeCharacter(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
}
