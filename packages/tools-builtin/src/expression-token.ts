import { badArguments } from "./bad-arguments.ts";

export interface Token {
  readonly type: "number" | "name" | "symbol" | "end";
  readonly text: string;
  /** Index of its first character, and of the one behind it. */
  readonly at: number;
  readonly end: number;
}

const space = /\s*/y;
const number = /(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const name = /[\p{L}_][\p{L}\p{N}_]*/uy;
const symbol = /\*\*|[-+*/%^!(),\u00D7\u00F7\u2212\u00B7]/y;

/** How people write operators, and what is meant. */
const spellings: ReadonlyMap<string, string> = new Map([
  ["**", "^"],
  ["\u00D7", "*"],
  ["\u00B7", "*"],
  ["\u00F7", "/"],
  ["\u2212", "-"],
]);

/** The token that begins at or behind this place. @throws AgentError TOOL_ARGUMENTS for a character that means nothing. */
export function nextToken(text: string, from: number): Token {
  const at = from + (match(space, text, from)?.length ?? 0);
  if (at >= text.length) return { type: "end", text: "", at, end: at };
  const digits = match(number, text, at);
  if (digits !== undefined) return { type: "number", text: digits.replaceAll("_", ""), at, end: at + digits.length };
  const word = match(name, text, at);
  if (word !== undefined) {
    const isPi = word === "\u03C0";
    return { type: "name", text: isPi ? "pi" : word, at, end: at + word.length };
  }
  const sign = match(symbol, text, at);
  if (sign !== undefined) return { type: "symbol", text: spellings.get(sign) ?? sign, at, end: at + sign.length };
  throw badArguments(
    `The character \`${String.fromCodePoint(text.codePointAt(at) ?? 0)}\` (place ${at + 1}) means nothing in an expression.`,
  );
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
