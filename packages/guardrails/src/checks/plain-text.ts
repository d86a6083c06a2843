/** A text without the characters that are not seen, and where each of its characters stood. */
export interface PlainText {
  readonly text: string;
  /** The position in the given text of a position in `text`. */
  at(position: number): number;
}

/** Characters without width, which split a word for programs alone. */
const unseen = /\u034f|[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/;
/** Full-width forms of ASCII. */
const fullWidth = /[\uff01-\uff5e]/;

/** The text as a person reads it: without characters that have no width, full-width letters as plain ones. */
export function plainText(given: string): PlainText {
  if (!unseen.test(given) && !fullWidth.test(given)) return { text: given, at: (position) => position };
  const places: number[] = [];
  let text = "";
  for (let at = 0; at < given.length; at++) {
    const character = given.charAt(at);
    if (unseen.test(character)) continue;
    text += fullWidth.test(character) ? String.fromCharCode(given.charCodeAt(at) - 0xfee0) : character;
    places.push(at);
  }
  return { text, at: (position) => places[position] ?? given.length };
}
