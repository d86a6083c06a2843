import { Lexer, type Links, Marked, type Token } from "marked";
import { footnotes } from "./footnotes.ts";

/** Longer blocks are shown as plain text: no person writes them, and their lexing would block the page for too long. */
export const blockCharactersMax = 40_000;
/** For each `[` the lexer may look through the rest of the block, so its time grows with brackets times length. */
export const bracketsMax = 1500;

const reader = new Marked({ gfm: true, breaks: false, extensions: [...footnotes] });

/**
 * The tokens of one block; `undefined` where it is too long, too deep or too dense to be read. `links` are the addresses that are defined
 * elsewhere in the text.
 */
export function lexBlock(text: string, links: Links): readonly Token[] | undefined {
  if (text.length > blockCharactersMax || text.split("[", bracketsMax + 2).length > bracketsMax + 1) return undefined;
  const lexer = new Lexer(reader.defaults);
  for (const [name, link] of Object.entries(links)) lexer.tokens.links[name] = link;
  try {
    return lexer.lex(text);
  } catch {
    // Thousands of nested quotes overflow the stack.
    return undefined;
  }
}
