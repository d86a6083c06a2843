import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { offlineIndex } from "../search/offline-index.ts";
import type { SearchProvider } from "../search/search-provider.ts";
import type { GeneratedWeb } from "./generate-web.ts";

/** A generated web behind a real server on loopback. */
export interface ServedWeb {
  /** For `privateOrigins` of `webFetch`, and as `baseUrl` of `searxng`: `/search?q=...&format=json` answers as SearXNG does. */
  readonly origin: string;
  /** A search over its pages, within this process. */
  readonly search: SearchProvider;
  /** Paths of pages that were fetched, in order, each as often as it was. */
  readonly fetched: readonly string[];
  /** Queries that were searched for over HTTP, in order. */
  readonly queries: readonly string[];
  close(): Promise<void>;
}

export interface ServeWebOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Asked for each page that is fetched; the answer waits for what it returns. */
  readonly onFetch?: (path: string) => void | Promise<void>;
}

/** Serves the pages at a port of loopback until `close`. */
export async function serveWeb(web: GeneratedWeb, options: ServeWebOptions = {}): Promise<ServedWeb> {
  const pages = new Map(web.pages.map((page) => [page.path, page]));
  const fetched: string[] = [];
  const queries: string[] = [];
  let search = offlineIndex([]);
  const answerSearch = async (parameters: URLSearchParams, response: ServerResponse): Promise<void> => {
    const query = parameters.get("q") ?? "";
    queries.push(query);
    const hits = await search.search({ query, countMax: 20 }, { signal: new AbortController().signal });
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ query, results: hits.map(({ title, url, snippet }) => ({ title, url, content: snippet })) }));
  };
  const answerPage = async (path: string, response: ServerResponse): Promise<void> => {
    await options.onFetch?.(path);
    const page = pages.get(path);
    response.writeHead(page ? 200 : 404, { "content-type": "text/html; charset=utf-8" });
    response.end(page?.html ?? "<title>Not found</title>");
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (pathname === "/search") return void answerSearch(searchParams, response);
    fetched.push(pathname);
    void answerPage(pathname, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  search = offlineIndex(web.pages.map(({ path, title, text }) => ({ url: `${origin}${path}`, title, text })));
  return {
    origin,
    search: { name: search.name, search: (request, about) => search.search(request, about) },
    fetched,
    queries,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
