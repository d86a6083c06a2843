/** The text in words, each with the white space behind it, so that joining gives the text again. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === "" ? [] : [text]);
}

/** The text in pieces of at most `size` characters, never cut inside one. */
export function piecesOf(text: string, size: number): readonly string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? [];
}
