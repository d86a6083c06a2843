import type { SessionHit } from "@loopwright/core";
import { AgentError } from "@loopwright/core";
import type { IndexUnderTest } from "../../src/index/index-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import { spoiledIndex } from "./spoiled-index.ts";

/** Changes the query on its way in. */
function asking(change: (query: string) => string): Make<IndexUnderTest> {
  return spoiledIndex((real) => ({ search: (scope, query, options) => real.search(scope, change(query), options) }));
}

/** Changes the hits on their way out. */
function finding(change: (hits: readonly SessionHit[], query: string) => readonly SessionHit[]): Make<IndexUnderTest> {
  return spoiledIndex((real) => ({ search: async (scope, query, options) => change(await real.search(scope, query, options), query) }));
}

/** Defects of searching. */
export const searchSaboteurs: readonly Saboteur<IndexUnderTest>[] = [
  {
    defect: "refuses a query without a word as if it had no search",
    breaks: ["search-refused"],
    make: spoiledIndex((real) => ({
      async search(scope, query, options) {
        if (query === "  ") throw new AgentError("SEARCH_UNSUPPORTED", { message: "This store has no search." });
        return real.search(scope, query, options);
      },
    })),
  },
  {
    defect: "looks at nothing but the words there were at the first search",
    breaks: ["search-messages", "search-title"],
    make: spoiledIndex((real, log) => {
      let lastSeq: number | undefined;
      return {
        async search(scope, query, options) {
          lastSeq ??= (await log.head({ scope, session: "first" })).lastSeq;
          const seen = lastSeq;
          const hits = await real.search(scope, query, options);
          return hits.filter(({ session }) => session.id !== "first" || session.lastSeq <= seen);
        },
      };
    }),
  },
  {
    defect: "does not look at the messages a session was opened with",
    breaks: ["search-context"],
    make: finding((hits) => hits.filter(({ session }) => session.lastSeq > 1 || session.title !== "apples")),
  },
  {
    defect: "remembers earlier titles",
    breaks: ["search-title"],
    make: spoiledIndex((real) => {
      const earlier = new Map<string, readonly SessionHit[]>();
      return {
        async search(scope, query, options) {
          const hits = await real.search(scope, query, options);
          if (query !== "orchard") return hits;
          if (hits.length > 0) earlier.set(query, hits);
          return earlier.get(query) ?? [];
        },
      };
    }),
  },
  {
    defect: "is content with one of the words",
    breaks: ["search-all-words", "search-folded", "search-plain-words"],
    make: spoiledIndex((real) => ({
      async search(scope, query, options) {
        const hits = new Map<string, SessionHit>();
        for (const word of [query, ...query.split(/[^\p{L}\p{N}\p{M}]+/u)])
          for (const hit of await real.search(scope, word, options)) hits.set(hit.session.id, hit);
        return [...hits.values()];
      },
    })),
  },
  {
    defect: "takes accents seriously",
    breaks: ["search-folded"],
    make: finding((hits, query) => (query === "creme brulee" ? [] : hits)),
  },
  {
    defect: "finds whole words alone",
    breaks: ["search-beginnings"],
    make: finding((hits, query) => hits.filter(({ excerpt }) => query !== "deploy" || /\bdeploy\b/.test(excerpt))),
  },
  {
    defect: "looks for spaces between words of every script",
    breaks: ["search-unspaced"],
    make: finding((hits, query) =>
      /^\p{Script=Han}+$/u.test(query) ? hits.filter(({ excerpt }) => excerpt.split(/\s/).includes(query)) : hits,
    ),
  },
  {
    defect: "speaks a query language",
    breaks: ["search-plain-words"],
    make: asking((query) => query.replace(/-\S+|:\S+|\bNEAR\b|\bOR\b.*/g, "")),
  },
  {
    defect: "gives the beginning of the text for an excerpt",
    breaks: ["search-excerpt"],
    make: finding((hits) => hits.map((hit) => ({ ...hit, excerpt: hit.session.title ?? "" }))),
  },
  {
    defect: "knows no limit",
    breaks: ["search-limit", "search-bounded", "search-aborted"],
    make: spoiledIndex((real) => ({ search: (scope, query) => real.search(scope, query) })),
  },
  {
    defect: "gives the newest first",
    breaks: ["search-best-first"],
    make: finding((hits) => hits.toSorted((a, b) => (a.session.id < b.session.id ? 1 : -1))),
  },
];
