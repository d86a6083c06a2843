/** Words of fewer letters are not compared: they are in every sentence. */
const wordMin = 4;
/** A passage is cut to so many characters. */
const passageMax = 300;
/** Characters of a page that are looked at. */
const textMax = 100_000;
/** The share of the words of a statement that a passage has to hold. */
const enough = 0.5;

const wordsIn = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(new RegExp(`[\\p{L}\\p{N}]{${wordMin},}|\\p{N}+`, "gu")) ?? []);

/** The sentences of a page as a tool gave it, without its head and the marks around it. */
export const sentencesIn = (page: string): readonly string[] =>
  page
    .slice(0, textMax)
    .split(/\n+|(?<=[.!?])\s+/)
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence !== "" && !/^(?:<|#|- \[|(?:URL|Title|Canonical URL|By|Published): )/.test(sentence));

/** The passage that has the most words of the statement; `undefined`: none has half of them. */
export function passageFor(statement: string, sentences: readonly string[]): string | undefined {
  const words = wordsIn(statement);
  let best: { readonly sentence: string; readonly share: number } | undefined;
  for (const sentence of words.size > 0 ? sentences : []) {
    const own = wordsIn(sentence);
    const share = [...words].filter((word) => own.has(word)).length / words.size;
    if (share > (best?.share ?? 0)) best = { sentence, share };
  }
  return best && best.share >= enough ? best.sentence.slice(0, passageMax).toWellFormed() : undefined;
}
