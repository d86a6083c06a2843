import { ownerWords } from "./index-words.ts";
import type { Ask } from "./operation.ts";
import { wordListTable } from "./schema.ts";
import { numberOf, type Statements, textOf } from "./statements.ts";

/** Longer words, the first in the order of the index, that the prefix of a query term is expanded to. */
const longerWordsMax = 100;

/** A word of a query, with what the index of words knows of it. */
export interface QueryTerm {
  readonly word: string;
  /** FTS5 expression for the texts of the scope that hold the word, or a longer word that begins with it; without the longer words if at least `textsMax` texts hold it. */
  readonly expression: string;
  /** The FTS5 expression with the longer words, however many texts hold the word. */
  withLonger(): string;
  /** How many texts match, counted up to `textsMax`. */
  readonly count: number;
  /** True if the prefix expansion reached `longerWordsMax`: then the newest texts of the scope are searched as well. */
  readonly isCut: boolean;
}

/** All texts of the scope. */
export const everyText = (scope: string): string => `owner : "${ownerWords.scope(scope)}"`;

/**
 * Looks query terms up, at a cost that does not grow with the number of texts. A word that at least `textsMax` texts hold is not expanded to longer
 * words. The expansion reads the terms from `fts5vocab` and is no prefix query: for that, FTS5 would read the entries of all matching terms in all
 * scopes.
 */
export function queryTerms({
  statements,
  scope,
  textsMax,
}: Pick<Ask<"search">, "scope" | "textsMax"> & { readonly statements: Statements }): (word: string) => QueryTerm {
  const inScope = (words: readonly string[]): string => `${everyText(scope)} AND text : (${words.map((word) => `"${word}"`).join(" OR ")})`;
  const countOf = (expression: string): number =>
    numberOf(statements.one("SELECT count(*) AS n FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)", expression, textsMax), "n");
  return (word) => {
    const itself = inScope([word]);
    if (countOf(itself) >= textsMax) {
      const withLonger = (): string => inScope([word, ...longerWords(statements, word)]);
      return { word, expression: itself, withLonger, count: textsMax, isCut: false };
    }
    const longer = longerWords(statements, word);
    const isCut = longer.length >= longerWordsMax;
    const expression = inScope([word, ...longer]);
    return { word, expression, withLonger: () => expression, count: isCut ? textsMax : countOf(expression), isCut };
  };
}

/** Suffixes: a word with the first sorts before all longer words that begin with it, with the second after them. No word of the index holds these characters. */
const [lowSuffix, highSuffix] = ["\u0001", "\u{10ffff}"];

/** Longer words that begin with this one, from the texts of all scopes; each takes one look-up in `fts5vocab`. */
function longerWords(statements: Statements, word: string): readonly string[] {
  statements.run(wordListTable("main"));
  const longer: string[] = [];
  for (let last: string | null = word; longer.length < longerWordsMax; ) {
    const sql = "SELECT term FROM temp.word_list WHERE term >= ? AND term < ? LIMIT 1";
    last = textOf(statements.one(sql, `${last}${lowSuffix}`, `${word}${highSuffix}`), "term");
    if (last === null) break;
    longer.push(last);
  }
  return longer;
}
