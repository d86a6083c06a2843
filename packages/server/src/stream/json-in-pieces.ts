/** About how many characters, or bytes, a piece has. */
export const pieceSize: number = 64 * 1024;
/** A value that certainly has no more characters as JSON is written by `JSON.stringify`, which is faster. */
const wholeChars = 16 * 1024;

/** True if a value certainly has at most `mostChars` characters as JSON. Takes at most that many steps. */
export function isShortJson(value: unknown, mostChars: number = wholeChars): boolean {
  return charsLeft(value, mostChars) >= 0;
}

/** How much of `left` characters the JSON of a value leaves at least; negative if it may be too long. One character may be written as six. */
export function charsLeft(value: unknown, left: number): number {
  if (left < 0) return left;
  if (typeof value === "string") return left - value.length * 6 - 2;
  if (typeof value !== "object" || value === null) return left - 24;
  let rest = left - 2;
  if (Array.isArray(value)) for (let at = 0; at < value.length && rest >= 0; at++) rest = charsLeft(value[at], rest - 1);
  else
    for (const key in value) {
      rest = charsLeft((value as Record<string, unknown>)[key], rest - key.length * 6 - 4);
      if (rest < 0) break;
    }
  return rest;
}

/**
 * The JSON of a value of plain data as `JSON.stringify` writes it, in pieces of about 64 Ki characters. Each is made when it is requested, so
 * that a caller which waits holds the value, but none of its text.
 */
export function* jsonPieces(value: unknown): Generator<string, void> {
  yield* inPieces(parts(value));
}

/** Joins texts to pieces of about 64 Ki characters. */
export function* inPieces(texts: Iterable<string>): Generator<string, void> {
  let text = "";
  for (const part of texts) {
    text += part;
    if (text.length < pieceSize) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

/** The JSON of a value in parts, none of them longer than a piece. */
function* parts(value: unknown): Generator<string, void> {
  if (isShortJson(value)) yield JSON.stringify(value) ?? "null";
  else if (typeof value === "string") yield* stringParts(value);
  else if (Array.isArray(value)) {
    let before = "[";
    for (const item of value) {
      yield before;
      yield* parts(item);
      before = ",";
    }
    yield "]";
  } else yield* objectParts(value as object);
}

function* objectParts(value: object): Generator<string, void> {
  let before = "{";
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    yield before;
    yield* stringParts(key);
    yield ":";
    yield* parts(item);
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}

function* stringParts(text: string): Generator<string, void> {
  yield '"';
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + wholeChars / 2);
    // Two halves of one character are written together.
    if (to < text.length && isHighHalf(text.charCodeAt(to - 1))) to += 1;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

const isHighHalf = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
