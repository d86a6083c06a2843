import { ownerWords } from "./index-words.ts";
import type { Ask } from "./operation.ts";
import { wordListTable } from "./schema.ts";
import { numberOf, type Statements, textOf } from "./statements.ts";

/** Longer words that a word of a query finds as well: the first ones of the alphabet. */
const longerWordsMax = 100;

/** A word of a query, as the index of words has it. */
export interface SoughtWord {
  readonly word: string;
  /** What finds the texts of the scope that hold it, or a longer word that begins with it; of a word that too many texts hold, these alone. */
  readonly expression: string;
  /** The same with longer words in any case. */
  withLonger(): string;
  /** How many texts hold it; not counted beyond the bound. */
  readonly count: number;
  /** More longer words begin with it than are looked for: beside these, the newest texts of the scope are looked at. */
  readonly isCut: boolean;
}

/** All texts of the scope. */
export const everyText = (scope: string): string => `owner : "${ownerWords.scope(scope)}"`;

/**
 * Looks words up, at a cost that does not grow with the number of texts. Of a word that as many texts hold as are looked at, only these texts count,
 * not those with longer words that begin with it. The longer words come from the list of words: asked for a prefix, FTS5 would read all texts of all
 * scopes that hold one of them.
 */
export function soughtWords({
  statements,
  scope,
  textsMax,
}: Pick<Ask<"search">, "scope" | "textsMax"> & { readonly statements: Statements }): (word: string) => SoughtWord {
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

/** What stands behind a word before all longer ones, and behind all of them: no word of the index holds such characters. */
const [behind, behindAll] = ["\u0001", "\u{10ffff}"];

/** Longer words that begin with this one, of the texts of any scope; one look into the index for each. */
function longerWords(statements: Statements, word: string): readonly string[] {
  statements.run(wordListTable("main"));
  const longer: string[] = [];
  for (let last: string | null = word; longer.length < longerWordsMax; ) {
    const sql = "SELECT term FROM temp.word_list WHERE term >= ? AND term < ? LIMIT 1";
    last = textOf(statements.one(sql, `${last}${behind}`, `${word}${behindAll}`), "term");
    if (last === null) break;
    longer.push(last);
  }
  return longer;
}
