import { cutPosition } from "../message/well-formed-text.ts";

const note = " [...]";

/** The text, or its beginning with ` [...]` so that the whole is at most `max` characters. Never splits a surrogate pair. */
export function cutText(text: string, max: number): string {
  return text.length <= max ? text : `${headOf(text, Math.max(0, max - note.length))}${note}`.slice(0, max);
}

/**
 * The first `max` characters, one fewer if that would split a surrogate pair. The result is a copy: engines store a slice as
 * a view, which would keep the whole text in memory.
 */
export function headOf(text: string, max: number): string {
  if (text.length <= max) return text;
  return JSON.parse(JSON.stringify(text.slice(0, cutPosition(text, max))));
}
