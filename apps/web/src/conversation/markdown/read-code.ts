import { type CodeGrammar, grammarOf, ignoresCase } from "./code-grammar.ts";

/** A piece of code of one kind; without a kind it is plain. */
export interface CodePiece {
  readonly kind?: "comment" | "string" | "number" | "keyword" | "name";
  readonly text: string;
}

/** Some lines of code, whole. */
export type CodeChunk = readonly CodePiece[];

/** Reads code that grows. */
export interface CodeReader {
  /** The code in chunks of lines. Those that can no longer change are the same objects as before. */
  read(code: string): readonly CodeChunk[];
}

const linesOfChunk = 40;
/** Longer code has one colour: reading it would take too long. */
const colouredCharactersMax = 200_000;

/** A reader for one block of code in a language. */
export function createCodeReader(language: string): CodeReader {
  const grammar = grammarOf(language);
  let seen = "";
  let chunks: CodeChunk[] = [];
  let settled = 0;
  let from = 0;

  return {
    read(code) {
      if (code === seen) return chunks;
      if (!code.startsWith(seen)) {
        settled = 0;
        from = 0;
      }
      seen = code;
      chunks = chunks.slice(0, settled);
      const { signs } = code.length > colouredCharactersMax ? grammarOf("") : grammar;
      let pieces: CodePiece[] = [];
      let lines = 0;
      let at = from;
      signs.lastIndex = from;
      for (let found = signs.exec(code); found; found = signs.exec(code)) {
        if (found[0] === "\n") {
          lines++;
          if (lines < linesOfChunk) continue;
          pieces.push({ text: code.slice(at, signs.lastIndex) });
          chunks.push(pieces);
          at = signs.lastIndex;
          settled = chunks.length;
          from = at;
          pieces = [];
          lines = 0;
          continue;
        }
        const kind = kindOf(found, code, grammar);
        if (kind === undefined) continue;
        if (found.index > at) pieces.push({ text: code.slice(at, found.index) });
        pieces.push({ kind, text: found[0] });
        at = signs.lastIndex;
      }
      if (at < code.length) pieces.push({ text: code.slice(at) });
      if (pieces.length > 0) chunks.push(pieces);
      return chunks;
    },
  };
}

function kindOf(found: RegExpExecArray, code: string, grammar: CodeGrammar): CodePiece["kind"] {
  const [whole, comment, string, number, word] = found;
  if (comment !== undefined) return "comment";
  if (string !== undefined) return "string";
  if (number !== undefined) return "number";
  if (word === undefined) return undefined;
  // `fact.type` is a member, whatever the word means elsewhere.
  const isMember = code.charAt(found.index - 1) === ".";
  if (grammar.keywords.size === 0) return "keyword";
  if (!isMember && grammar.keywords.has(ignoresCase(grammar) ? whole.toLowerCase() : whole)) return "keyword";
  return code.charAt(found.index + whole.length) === "(" ? "name" : undefined;
}
