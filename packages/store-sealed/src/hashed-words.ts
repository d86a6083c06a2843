import { createHmac } from "node:crypto";
import { searchWords } from "@loopwright/core/stores";

/** Words of one text that can be found. */
const wordsMax = 4_000;
/** A mark stands before every so many words: the piece of a text that an index shows around a match holds one. */
const wordsPerMark = 4;
const digits = 16;

/** The words of a text as keyed hashes, equal for equal words, in their order. `mark` names the text in the pieces that an index gives of it. */
export function hashedText(key: Uint8Array, text: string, mark: number): string {
  const hashes = searchWords(text)
    .slice(0, wordsMax)
    .map((word) => hashOf(key, word));
  return hashes.map((hash, place) => (place % wordsPerMark === 0 ? `s${mark}e ${hash}` : hash)).join(" ");
}

/** The words of a query as an index holds them. */
export const hashedQuery = (key: Uint8Array, query: string): string =>
  searchWords(query)
    .map((word) => hashOf(key, word))
    .join(" ");

/** The mark of the text that a piece is from. */
export function markIn(piece: string): number | undefined {
  const [, mark] = /\bs(\d+)e\b/.exec(piece) ?? [];
  return mark === undefined ? undefined : Number(mark);
}

const hashOf = (key: Uint8Array, word: string): string => createHmac("sha256", key).update(word).digest("hex").slice(0, digits);
