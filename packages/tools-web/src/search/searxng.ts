import { checkedHits, type SearchProvider } from "./search-provider.ts";
import { callService, listIn, type SearchServiceOptions, serviceUrl } from "./search-service.ts";

export interface SearxngOptions extends SearchServiceOptions {
  /** Address of your instance; its `search.formats` must hold `json`. It may be in a private network: it is called as given. */
  readonly baseUrl: string;
  /** For example `en`. Default: that of the instance. */
  readonly language?: string;
}

/** Search by an instance of SearXNG. @throws AgentError CONFIG_INVALID for a wrong address */
export function searxng(options: SearxngOptions): SearchProvider {
  const base = new URL("search", serviceUrl("searxng", options.baseUrl));
  return {
    name: "searxng",
    async search({ query, countMax }, { signal }) {
      const url = new URL(base);
      url.searchParams.set("q", query);
      url.searchParams.set("format", "json");
      if (options.language !== undefined) url.searchParams.set("language", options.language);
      const answer = await callService({ ...options, name: "searxng", url, headers: {}, signal });
      const raw = listIn(answer, "results").map((hit) => ({ ...hit, snippet: hit["content"], publishedAt: hit["publishedDate"] }));
      return checkedHits(raw, countMax);
    },
  };
}
