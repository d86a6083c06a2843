/** Longest title made from a message, in characters. */
const derivedTitleMax = 80;

/** The title from the text of a first message: one line, never cut inside a character; empty if the text is blank. */
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
