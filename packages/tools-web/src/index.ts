export type { AdmittedUrl, ResolveHost } from "@loopwright/url-guard";
export {
  type AskedPage,
  type EarlierPage,
  type FetchedInLogOptions,
  type FetchedPages,
  type FetchPlace,
  fetchedInLog,
  type PageRequest,
} from "./fetched-in-log.ts";
export type { PageFormat } from "./page/read-page.ts";
export { type BraveOptions, brave } from "./search/brave.ts";
export { type IndexedPage, offlineIndex } from "./search/offline-index.ts";
export type { SearchHit, SearchProvider, SearchRequest } from "./search/search-provider.ts";
export type { SearchServiceOptions } from "./search/search-service.ts";
export { type SearxngOptions, searxng } from "./search/searxng.ts";
export { type TavilyOptions, tavily } from "./search/tavily.ts";
export type { WebFailureReason } from "./web-error.ts";
export { type WebFetchArguments, type WebFetchOptions, webFetch } from "./web-fetch.ts";
export { type WebGuard, type WebPolicy, webGuard } from "./web-guard.ts";
export { defaultWebLimits, type WebLimits } from "./web-limits.ts";
export { type WebSearchArguments, type WebSearchOptions, webSearch } from "./web-search.ts";
