import { Lexer, type Links, Marked, type Token } from "marked";
import { footnotes } from "./footnotes.ts";

/** Longer blocks are shown as they are: no person writes them, and reading them takes too long for a screen that moves. */
export const blockCharactersMax = 40_000;
/** Each bracket that opens a link is looked at until the end of the block. */
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
    // Thousands of nested quotes end the stack.
    return undefined;
  }
}
