import { checkedHits, type SearchProvider } from "./search-provider.ts";
import { callService, listIn, type SearchServiceOptions, serviceKey, serviceUrl } from "./search-service.ts";

export interface TavilyOptions extends SearchServiceOptions {
  readonly apiKey: string;
  /** Default `basic`; `advanced` costs two credits. */
  readonly depth?: "basic" | "advanced";
  /** Default `https://api.tavily.com`. */
  readonly baseUrl?: string;
}

/** Search by Tavily. @throws AgentError CONFIG_INVALID for a blank key or a wrong address */
export function tavily(options: TavilyOptions): SearchProvider {
  const { depth = "basic", baseUrl = "https://api.tavily.com" } = options;
  const key = serviceKey("tavily", options.apiKey);
  const url = new URL("search", serviceUrl("tavily", baseUrl));
  return {
    name: "tavily",
    async search({ query, countMax }, { signal }) {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const body = JSON.stringify({ query: query.slice(0, 400), max_results: Math.min(countMax, 20), search_depth: depth });
      const answer = await callService({ ...options, name: "tavily", url, method: "POST", headers, body, signal });
      const raw = listIn(answer, "results").map((hit) => ({ ...hit, snippet: hit["content"], publishedAt: hit["published_date"] }));
      return checkedHits(raw, countMax);
    },
  };
}
