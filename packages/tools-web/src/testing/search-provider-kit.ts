import { isAgentError } from "@loopwright/core";
import { expectSame, expectThat, type StoreKit } from "@loopwright/testing";
import type { SearchHit, SearchProvider } from "../search/search-provider.ts";

/** A search and what it finds. */
export interface SearchUnderTest {
  readonly provider: SearchProvider;
  /**
   * A query that finds at least three pages of the web. The service also gives for it a `javascript:` address, a page twice, and a title with markup
   * and an invisible character, as far as it can.
   */
  readonly known: { readonly query: string; readonly firstUrl: string };
  /** A query that finds nothing. */
  readonly unknownQuery: string;
  /** The same search where its service refuses every call, and what no error may hold; absent for one without a service. */
  readonly failing?: { readonly provider: SearchProvider; readonly secrets: readonly string[] };
}

const open = (): AbortSignal => new AbortController().signal;

async function hitsOf({ provider, known }: SearchUnderTest, countMax = 10): Promise<readonly SearchHit[]> {
  return provider.search({ query: known.query, countMax }, { signal: open() });
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("It did not reject.");
}

/** The promises of `SearchProvider`. Capability: `service` (it calls one that can refuse). */
export const searchProviderKit: StoreKit<SearchUnderTest> = [
  {
    id: "best-first",
    promise: "gives the best page first",
    async run(make) {
      const under = await make();
      expectSame((await hitsOf(under))[0]?.url, under.known.firstUrl, "the URL of the first hit");
    },
  },
  {
    id: "web-pages",
    promise: "gives complete URLs of web pages only, each once",
    async run(make) {
      const urls = (await hitsOf(await make())).map(({ url }) => url);
      for (const url of urls) expectThat(/^https?:$/.test(URL.parse(url)?.protocol ?? ""), `A hit has the URL ${JSON.stringify(url)}.`);
      expectSame(urls.length, new Set(urls).size, "the count of different URLs");
    },
  },
  {
    id: "plain-words",
    promise: "gives titles and snippets as plain text on one line",
    async run(make) {
      for (const { title, snippet } of await hitsOf(await make())) {
        expectThat(title.trim() !== "", "A hit has no title.");
        for (const text of [title, snippet])
          expectThat(!/<\/?(strong|b|em)>|[\n\u200b]/.test(text), `A hit has the text ${JSON.stringify(text)}.`);
      }
    },
  },
  {
    id: "count",
    promise: "gives no more hits than wanted",
    async run(make) {
      const under = await make();
      expectSame((await hitsOf(under, 2)).length, 2, "the count of hits");
    },
  },
  {
    id: "nothing",
    promise: "gives no hits where nothing was found",
    async run(make) {
      const { provider, unknownQuery } = await make();
      expectSame(await provider.search({ query: unknownQuery, countMax: 5 }, { signal: open() }), [], "the hits");
    },
  },
  {
    id: "long-query",
    promise: "takes the longest query there may be",
    async run(make) {
      const { provider } = await make();
      const hits = await provider.search({ query: "a ".repeat(200).trim().padEnd(400, "b"), countMax: 20 }, { signal: open() });
      expectThat(Array.isArray(hits), "It gave no list.");
    },
  },
  {
    id: "abort",
    promise: "rejects with the reason of a signal that is aborted",
    async run(make) {
      const { provider, known } = await make();
      const reason = new Error("stopped");
      const before = provider.search({ query: known.query, countMax: 1 }, { signal: AbortSignal.abort(reason) });
      expectThat((await errorOf(before)) === reason, "It did not reject with the reason.");
    },
  },
  {
    id: "refusal",
    promise: "rejects with TOOL_FAILED, its own name and no secret when the service refuses",
    needs: ["service"],
    async run(make) {
      const { failing, known } = await make();
      if (!failing) throw new Error("There is no failing search to try.");
      const error = await errorOf(failing.provider.search({ query: known.query, countMax: 1 }, { signal: open() }));
      if (!isAgentError(error, "TOOL_FAILED")) throw new Error(`It rejected with ${String(error)}.`);
      expectThat(error.message.includes(failing.provider.name), "The message does not name the service.");
      const shown = `${error.message} ${error.fix} ${JSON.stringify(error.details ?? {})}`;
      expectThat(!failing.secrets.some((secret) => shown.includes(secret)), "The error holds a secret.");
    },
  },
];
