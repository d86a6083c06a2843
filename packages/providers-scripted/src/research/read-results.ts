/*
 * Owns: what the offline researcher reads in results of the web tools. Everything it knows comes from there.
 * Does not own: which tools it calls (research-work).
 */
import type { Exchange } from "../exchange.ts";
import { hasFailed, shown } from "../exchange.ts";
import { meaningOf, shareIn } from "./questions.ts";

/** A hit of a search. */
export interface Hit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** A page that was read. */
export interface PageText {
  readonly url: string;
  readonly sentences: readonly string[];
}

type Result = Exchange["results"][number];

const hitLine = /^\d+\. (.*)\n\s+(https?:\S+)((?:\n {3,}.*)*)/gm;

/** The hits of all searches, the best first. */
export const hitsIn = (results: readonly Result[]): readonly Hit[] =>
  results.flatMap(({ result }) =>
    hasFailed(result)
      ? []
      : [...shown(result).matchAll(hitLine)].map(([, title = "", url = "", snippet = ""]) => ({ title, url, snippet: snippet.trim() })),
  );

/** The page of a result; `undefined`: it could not be read. */
export function pageIn({ result }: Result): PageText | undefined {
  if (hasFailed(result)) return undefined;
  const text = shown(result);
  const url = /^URL: (\S+)$/m.exec(text)?.[1];
  if (url === undefined) return undefined;
  const body = text.slice(text.indexOf("\n\n") + 2).replace(/\n*Other links of the page:[\s\S]*$/, "");
  const lines = body.split(/\n+/).filter((line) => !/^(#|<|[-*] \[)/.test(line));
  return { url, sentences: lines.flatMap((line) => line.split(/(?<=[.!?])\s+/)).map((sentence) => sentence.trim()) };
}

/** A sentence that answers a query, and where it stands. */
export interface Finding {
  readonly sentence: string;
  readonly url: string;
}

/** Words of a query that a sentence has to hold. */
const enough = 0.8;

/** The best sentence of these pages for the query; `undefined`: none fits. */
export function findingFor(query: string, pages: readonly PageText[]): Finding | undefined {
  const words = meaningOf(query);
  const all = pages.flatMap(({ url, sentences }) => sentences.map((sentence) => ({ sentence, url, share: shareIn(sentence, words) })));
  const best = all.reduce<(typeof all)[number] | undefined>((top, one) => (one.share > (top?.share ?? 0) ? one : top), undefined);
  return best && best.share >= enough ? { sentence: best.sentence, url: best.url } : undefined;
}

/** The hit worth reading for the query: its title and excerpt hold what is sought. */
export function hitFor(query: string, hits: readonly Hit[]): Hit | undefined {
  const words = meaningOf(query);
  const scored = hits.map((hit) => ({ hit, share: shareIn(`${hit.title} ${hit.snippet}`, words) }));
  const best = scored.reduce<(typeof scored)[number] | undefined>((top, one) => (one.share > (top?.share ?? 0) ? one : top), undefined);
  return best && best.share > enough ? best.hit : undefined;
}
