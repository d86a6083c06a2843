/** A text as a person reads it, and where each of its characters stood. */
export interface PlainText {
  readonly text: string;
  /** Where in the given text the character at this position of `text` begins. */
  at(position: number): number;
  /** Where it ends there. */
  after(position: number): number;
}

/** Characters without width, which split a word for programs alone. */
const unseen = /\u034f|[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/;
/** Full-width, bold, italic and other forms of letters and digits. */
const forms = /[\u2100-\u214f\uff01-\uff5e]|[\u{1d400}-\u{1d7ff}]/u;
/** Letters of other alphabets that look like Latin ones, and these. */
const twins: ReadonlyMap<string, string> = new Map(
  [
    ["аеорсухіјѕһԁԛԝвкмнтґ", "aeopcyxijshdqwbkmhtr"],
    ["АВЕКМНОРСТУХІЈЅԚԜ", "ABEKMHOPCTYXIJSQW"],
    ["ανορτυικχγ", "avoptuikxy"],
    ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"],
  ].flatMap(([theirs = "", ours = ""]) => [...theirs].map((letter, at) => [letter, ours.charAt(at)] as const)),
);
const otherAlphabet = /[\u0370-\u03ff\u0400-\u052f]/;
/** A word with letters of several alphabets: no language writes one. */
const word = /[\w\u0370-\u03ff\u0400-\u052f-]+/g;

/**
 * The text as a person reads it: without characters that have no width, letters of other forms as plain ones, and in words that mix alphabets the Latin
 * letters that the others look like.
 */
export function plainText(given: string): PlainText {
  const isMixed = otherAlphabet.test(given);
  if (!isMixed && !unseen.test(given) && !forms.test(given))
    return { text: given, at: (position) => position, after: (position) => position + 1 };
  const places: { readonly from: number; readonly to: number }[] = [];
  let text = "";
  let at = 0;
  for (const character of given) {
    if (!unseen.test(character)) {
      text += forms.test(character) ? plainForm(character) : character;
      while (places.length < text.length) places.push({ from: at, to: at + character.length });
    }
    at += character.length;
  }
  return {
    text: isMixed ? text.replace(word, withTwins) : text,
    at: (position) => places[position]?.from ?? given.length,
    after: (position) => places[position]?.to ?? given.length,
  };
}

/** One character for one. */
function plainForm(character: string): string {
  const plain = character.normalize("NFKC");
  return /^[!-~]$/.test(plain) ? plain : character;
}

/** As long as the word. A word of one other alphabet is a word of its language. */
function withTwins(mixed: string): string {
  if (!otherAlphabet.test(mixed) || !/[A-Za-z0-9_]/.test(mixed)) return mixed;
  return [...mixed].map((letter) => twins.get(letter) ?? letter).join("");
}
