import { cutPosition } from "../message/well-formed-text.ts";

/** The text in pieces of at most `size` characters, never cut inside a surrogate pair. Empty text gives no piece. */
export function piecesOf(text: string, size: number): readonly string[] {
  if (size <= 0 || text.length <= size) return text === "" ? [] : [text];
  const pieces: string[] = [];
  let from = 0;
  while (from < text.length) {
    let to = Math.min(from + size, text.length);
    if (to < text.length && cutPosition(text, to) < to) to += 1;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
