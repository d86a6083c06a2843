import { checkedHits, type SearchProvider } from "./search-provider.ts";
import { callService, listIn, type SearchServiceOptions, serviceKey, serviceUrl } from "./search-service.ts";

export interface BraveOptions extends SearchServiceOptions {
  readonly apiKey: string;
  /** Default `https://api.search.brave.com`. */
  readonly baseUrl?: string;
}

/** The longest query that Brave accepts. */
const queryMax = { words: 50, characters: 400 };

/** Search by Brave. @throws AgentError CONFIG_INVALID for a blank key or a wrong address */
export function brave(options: BraveOptions): SearchProvider {
  const key = serviceKey("brave", options.apiKey);
  const base = new URL("res/v1/web/search", serviceUrl("brave", options.baseUrl ?? "https://api.search.brave.com"));
  return {
    name: "brave",
    async search({ query, countMax }, { signal }) {
      const url = new URL(base);
      const words = query.trim().split(/\s+/).slice(0, queryMax.words).join(" ");
      url.searchParams.set("q", words.slice(0, queryMax.characters));
      url.searchParams.set("count", String(Math.min(countMax, 20)));
      const answer = await callService({ ...options, name: "brave", url, headers: { "x-subscription-token": key }, signal });
      const raw = listIn(answer, "web", "results").map((hit) => ({ ...hit, snippet: hit["description"], publishedAt: hit["page_age"] }));
      return checkedHits(raw, countMax);
    },
  };
}
