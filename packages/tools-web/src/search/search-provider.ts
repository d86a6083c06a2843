import { cleanLine } from "../page/clean-text.ts";
import { absoluteUrl } from "../page/page-links.ts";

export interface SearchRequest {
  /** 1 to 400 characters. */
  readonly query: string;
  /** Hits that are wanted at most, 1 to 20. */
  readonly countMax: number;
}

export interface SearchHit {
  readonly title: string;
  /** Complete, with http or https; each once. */
  readonly url: string;
  /** Plain text, on one line. May be empty. */
  readonly snippet: string;
  /** As the service gives it. */
  readonly publishedAt?: string;
}

/** The port of `web_search`: a service that finds pages. `searchProviderKit` of `@loopwright/tools-web/testing` holds its promises. */
export interface SearchProvider {
  /** For people and logs. */
  readonly name: string;
  /**
   * Hits, the best first; empty when nothing was found.
   * @throws AgentError TOOL_FAILED when the service refuses or cannot be reached; the signal's reason when it was aborted
   */
  search(request: SearchRequest, options: { readonly signal: AbortSignal }): Promise<readonly SearchHit[]>;
}

/** What a service gave for one hit, before it is checked. */
export interface RawHit {
  readonly title?: unknown;
  readonly url?: unknown;
  readonly snippet?: unknown;
  readonly publishedAt?: unknown;
}

const charactersMax = { title: 200, snippet: 500, publishedAt: 40 };
const nowhere = new URL("about:blank");

/** Hits as the port promises them: pages of the web, each once, no more than wanted, without markup and invisible characters. */
export function checkedHits(raw: readonly RawHit[], countMax: number): readonly SearchHit[] {
  const hits = new Map<string, SearchHit>();
  for (const { title, url, snippet, publishedAt } of raw) {
    if (hits.size >= countMax) break;
    const address = typeof url === "string" ? absoluteUrl(url, nowhere) : undefined;
    if (address === undefined || hits.has(address)) continue;
    const published = textOf(publishedAt, charactersMax.publishedAt);
    hits.set(address, {
      title: textOf(title, charactersMax.title) || address,
      url: address,
      snippet: textOf(snippet, charactersMax.snippet),
      ...(published === "" ? {} : { publishedAt: published }),
    });
  }
  return [...hits.values()];
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'", nbsp: " " };

/** Services mark the words sought with tags. */
function textOf(value: unknown, max: number): string {
  if (typeof value !== "string") return "";
  const plain = value.slice(0, 4 * max).replace(/<\/?(?:strong|b|em|mark|span)\b[^>]{0,100}>/gi, "");
  return cleanLine(
    plain.replace(/&(#?\w{1,6});/g, (whole, name: string) => entities[name.toLowerCase()] ?? whole),
    max,
  );
}
