import type { Json } from "../message/json.ts";
import { weigh } from "../message/json-bytes.ts";
import { cutPosition } from "../message/well-formed-text.ts";
import { headOf } from "./cut-text.ts";

/** The beginning of a value's JSON text, and how long the whole is. */
export interface JsonHead {
  /** At most `max` characters; the whole text if `length` is not more. */
  readonly text: string;
  readonly length: number;
}

/** A value up to this weight is written as a whole, which is faster. */
const wholeMax = 4 * 1024 * 1024;
/** Characters of a string that are measured at once. */
const stepCharacters = 64 * 1024;

/** As `JSON.stringify`, but makes only the text that is asked for: a large value needs no second copy in memory. */
export function jsonHead(value: Json, max: number): JsonHead {
  if (weigh(value) <= wholeMax) {
    const text = JSON.stringify(value);
    return { text: headOf(text, max), length: text.length };
  }
  let text = "";
  let length = 0;
  const put = (piece: string, pieceLength = piece.length): void => {
    if (text.length < max) text += piece;
    length += pieceLength;
  };
  const visit = (node: Json): void => {
    if (typeof node === "string") put(JSON.stringify(headOf(node, max)), lengthOfString(node));
    else if (typeof node !== "object" || node === null) put(JSON.stringify(node));
    else if (Array.isArray(node)) {
      put("[");
      for (const [place, item] of (node as readonly Json[]).entries()) {
        if (place > 0) put(",");
        visit(item);
      }
      put("]");
    } else {
      put("{");
      for (const [place, [key, member]] of Object.entries(node as { readonly [key: string]: Json }).entries()) {
        put(`${place > 0 ? "," : ""}${JSON.stringify(key)}:`);
        visit(member);
      }
      put("}");
    }
  };
  visit(value);
  return { text: headOf(text, max), length };
}

/** The length of a string as JSON, measured in pieces that split no surrogate pair. */
function lengthOfString(text: string): number {
  let length = 2;
  for (let from = 0; from < text.length; ) {
    const piece = text.slice(from, cutPosition(text, from + stepCharacters));
    length += JSON.stringify(piece).length - 2;
    from += piece.length;
  }
  return length;
}
