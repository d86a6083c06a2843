/** Longest title made from a message, in characters. */
const derivedTitleMax = 80;

/** The title that the text of a first message gives: one line, cut at a character; empty where there are no words. */
export function derivedTitle(text: string): string {
  const line = text
    .slice(0, derivedTitleMax * 8)
    .replace(/\s+/gu, " ")
    .trim();
  const characters = [...line];
  return characters.length <= derivedTitleMax
    ? line
    : `${characters
        .slice(0, derivedTitleMax - 1)
        .join("")
        .trimEnd()}…`;
}
