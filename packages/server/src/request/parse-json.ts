import { AgentError, findJsonFlaw, type Json, type JsonFlaw, jsonDepthMax } from "@loopwright/core";

const flaws: { readonly [Flaw in JsonFlaw]: string } = {
  too_deep: `nests deeper than ${jsonDepthMax} levels`,
  forbidden_key: "has a key `__proto__`, `constructor` or `prototype`",
  not_json: "has a number that is too large",
};

/** A whole number with so many digits that it may not be represented exactly. */
const longNumber = /\d{16}/;
/** Escapes of characters that no text may have: halves of surrogate pairs, and NUL. */
const suspicious = /\\u(?:d[89a-f]|0000)/i;

/**
 * The value of a body. Halves of surrogate pairs, which do not survive UTF-8, become U+FFFD: a program that cuts text in the middle of a character
 * sends them unknowingly. @throws AgentError INPUT_INVALID
 */
export function parseJson(bytes: Uint8Array): Json {
  const text = decode(bytes);
  if (text.startsWith("\uFEFF")) throw invalid("begins with a byte order mark");
  const value = parse(text);
  const flaw = findJsonFlaw(value);
  if (flaw) throw invalid(flaws[flaw]);
  if (longNumber.test(text)) checkWholeNumbers(text);
  return suspicious.test(text) ? mended(value) : value;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid("is not UTF-8");
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // The engine's own message quotes the body.
    throw invalid("is not JSON");
  }
}

/** Refuses integers that JSON.parse would change silently, such as ids of other systems. @throws AgentError INPUT_INVALID */
function checkWholeNumbers(text: string): void {
  JSON.parse(text, (key: string, value: unknown, context?: { readonly source?: string }) => {
    const isChanged = typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "");
    if (isChanged)
      throw invalid(`has in \`${key.slice(0, 64)}\` a whole number beyond 2^53 - 1, which would be changed: send it as a text`);
    return value;
  });
}

function mended(value: Json): Json {
  if (typeof value === "string") return mendedText(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(mended);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [mendedText(key), mended(member)]));
}

function mendedText(text: string): string {
  if (text.includes("\0")) throw invalid("has a text with a NUL character");
  return text.toWellFormed();
}

const invalid = (what: string): AgentError =>
  new AgentError("INPUT_INVALID", { message: `The body ${what}.`, fix: "Send JSON in UTF-8; see `/openapi.json` for its fields." });
