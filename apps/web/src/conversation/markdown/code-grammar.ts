const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** How the words and signs of a family of languages look. Enough to read by, not a parser. */
export interface CodeGrammar {
  /** Groups: comment, string, number, word. */
  readonly signs: RegExp;
  readonly keywords: ReadonlySet<string>;
}

const number = String.raw`\b(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)n?\b`;
const word = String.raw`[\p{L}_$][\p{L}\d_$]*`;
const quoted = String.raw`"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?`;
const template = "`(?:[^`\\\\]|\\\\[\\s\\S])*(?:`|$)";

/** `$` is the end of the text: what is open there continues when more text comes. */
const signsOf = (comment: string, string: string, sign = word): RegExp =>
  new RegExp(`(${comment})|(${string})|(${number})|(${sign})|\\n`, "gu");

const braces: CodeGrammar = {
  signs: signsOf(String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`, `${quoted}|${template}`),
  keywords: words(
    "abstract as async await bool boolean break byte case catch char class const continue crate def default defer delete do double else enum export extends extern false final finally float fn for from func function get go goto if impl implements import in instanceof int interface is let long loop match mod module move mut namespace new nil null number object of operator override package pub private protected public readonly ref return satisfies self set short static string struct super switch this throw throws trait true try type typeof undefined unsafe use using val var virtual void where while yield",
  ),
};

const hashes: CodeGrammar = {
  signs: signsOf(String.raw`#[^\n]*`, String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|${quoted}`),
  keywords: words(
    "and as assert async await begin break case class continue def del do done elif else elsif end ensure esac except export False fi finally for from function global if import in is lambda local module next nil None nonlocal not or pass raise rescue return self set source then True true false null try unless until while with yield echo cd exit sudo",
  ),
};

const dashes: CodeGrammar = {
  signs: signsOf(String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`, quoted),
  keywords: words(
    "select from where and or not in is null insert into values update set delete create table index view alter drop add column primary key foreign references unique default join left right inner outer full on as order by group having limit offset distinct union all case when then else end exists between like asc desc count sum avg min max begin commit rollback with returning if local function return for while do repeat until true false nil",
  ),
};

const markup: CodeGrammar = {
  signs: signsOf(String.raw`<!--[\s\S]*?(?:-->|$)`, quoted, String.raw`<\/?[\w:-]+|\/?>`),
  keywords: words(""),
};

const styles: CodeGrammar = {
  signs: signsOf(String.raw`\/\*[\s\S]*?(?:\*\/|$)`, quoted, String.raw`@[\w-]+|--[\w-]+|[\w-]+(?=\s*:)`),
  keywords: words(""),
};

const plain: CodeGrammar = { signs: /\n/gu, keywords: words("") };

const families: readonly (readonly [CodeGrammar, string])[] = [
  [
    braces,
    "js jsx mjs cjs ts tsx javascript typescript java c h cpp c++ cc cs csharp go golang rust rs swift kotlin kt dart scala php proto json jsonc json5 graphql",
  ],
  [hashes, "py python rb ruby sh bash zsh shell console fish yaml yml toml ini dockerfile make makefile perl r elixir ex nix env"],
  [dashes, "sql postgres postgresql mysql sqlite lua haskell hs"],
  [markup, "html xml svg vue svelte"],
  [styles, "css scss less"],
];

const grammars: ReadonlyMap<string, CodeGrammar> = new Map(
  families.flatMap(([grammar, names]) => names.split(" ").map((name) => [name, grammar] as const)),
);

/** The grammar of a language by the name that authors give it; of an unknown one a grammar without signs. */
export function grammarOf(language: string): CodeGrammar {
  return grammars.get(language.toLowerCase()) ?? plain;
}

/** True for the languages whose keywords may be written in capitals. */
export function ignoresCase(grammar: CodeGrammar): boolean {
  return grammar === dashes;
}
