import { excerptAround, searchWords } from "@loopwright/core/stores";
import { checkedHits, type SearchProvider } from "./search-provider.ts";

/** A page that can be found. */
export interface IndexedPage {
  readonly url: string;
  readonly title: string;
  readonly text: string;
}

interface Entry {
  readonly page: IndexedPage;
  /** Word -> how often; words of the title count three times. */
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

const titleWeight = 3;
/** The usual constants of BM25. */
const saturation = 1.2;
const lengthWeight = 0.75;

/** Search over given pages, without a network: ranked by BM25 over title and text, ties in the order given. */
export function offlineIndex(pages: readonly IndexedPage[]): SearchProvider {
  const entries = pages.map(entryOf);
  const average = entries.reduce((sum, { length }) => sum + length, 0) / Math.max(1, entries.length);
  const holders = new Map<string, number>();
  for (const { counts } of entries) for (const word of counts.keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
  return {
    name: "offline",
    async search({ query, countMax }, { signal }) {
      signal.throwIfAborted();
      const words = [...new Set(searchWords(query))];
      const scored = entries.map((entry) => ({ entry, score: scoreOf(entry, words, { holders, average, total: entries.length }) }));
      const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
      const raw = found.map(({ entry: { page } }) => ({ url: page.url, title: page.title, snippet: excerptAround(page.text, words) }));
      return checkedHits(raw, countMax);
    },
  };
}

function entryOf(page: IndexedPage): Entry {
  const counts = new Map<string, number>();
  let length = 0;
  const add = (text: string, weight: number): void => {
    for (const word of searchWords(text)) {
      counts.set(word, (counts.get(word) ?? 0) + weight);
      length += weight;
    }
  };
  add(page.title, titleWeight);
  add(page.text, 1);
  return { page, counts, length };
}

interface Collection {
  readonly holders: ReadonlyMap<string, number>;
  readonly average: number;
  readonly total: number;
}

function scoreOf({ counts, length }: Entry, words: readonly string[], { holders, average, total }: Collection): number {
  let score = 0;
  for (const word of words) {
    const count = counts.get(word) ?? 0;
    const held = holders.get(word) ?? 0;
    const rarity = Math.log(1 + (total - held + 0.5) / (held + 0.5));
    score += (rarity * count * (saturation + 1)) / (count + saturation * (1 - lengthWeight + (lengthWeight * length) / average));
  }
  return score;
}
