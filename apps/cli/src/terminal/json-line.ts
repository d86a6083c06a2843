/**
 * What `JSON.stringify` leaves as it is and a terminal, or its reader, takes for more than a letter: DEL, C1 (U+009B begins a command), marks that
 * reorder what stands beside them, the separators of lines and paragraphs.
 */
const unsafe = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** The value as JSON on one line, equal after parsing, with nothing that a terminal acts upon. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
