import type { JsonObject } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";
import { type Exchange, shown } from "../exchange.ts";
import type { OfflineReply } from "../offline-answer.ts";
import { queriesOf, topicOf } from "./questions.ts";
import { findingFor, hitFor, hitsIn, pageIn } from "./read-results.ts";

/** Names of the tools that it works with. */
export const webTools = { history: "get_search_history_tool", search: "web_search", fetch: "web_fetch" } as const;

/** Hits of one search. */
const hitsMax = 5;

/** A researcher: looks at earlier searches, searches, reads what it found, and answers with sentences of these pages and nothing else. */
export function researcherReply(request: ModelRequest, { text, done, results }: Exchange): OfflineReply {
  const offered = new Set((request.toolChoice === "none" ? [] : (request.tools ?? [])).map(({ name }) => name));
  const of = (name: string): Exchange["results"] => results.filter((result) => result.name === name);
  if (offered.has(webTools.history) && !done.includes(webTools.history))
    return { text: "I look at what was searched for already.", calls: [{ name: webTools.history, args: {} }] };
  const queries = queriesOf(topicOf(text));
  const searched = new Set([...of(webTools.search).map(({ args }) => textIn(args, "query")), ...earlierSearches(of(webTools.history))]);
  const searches = queries.filter((query) => !searched.has(query));
  if (offered.has(webTools.search) && searches.length > 0)
    return {
      text: `I search for ${searches.length} things.`,
      calls: searches.map((query) => call(webTools.search, { query, count: hitsMax })),
    };
  const pages = of(webTools.fetch).flatMap((result) => pageIn(result) ?? []);
  const tried = new Set(
    of(webTools.fetch)
      .filter(isOver)
      .map(({ args }) => textIn(args, "url")),
  );
  const hits = hitsIn(of(webTools.search)).filter(({ url }) => !tried.has(url));
  const open = queries.filter((query) => !findingFor(query, pages));
  const wanted = new Set(open.flatMap((query) => hitFor(query, hits)?.url ?? (tried.size === 0 ? (hits[0]?.url ?? []) : [])));
  if (offered.has(webTools.fetch) && wanted.size > 0)
    return { text: `I read ${wanted.size} pages.`, calls: [...wanted].map((url) => call(webTools.fetch, { url })) };
  const lines = queries.map((query) => {
    const finding = findingFor(query, pages);
    return finding ? `- ${finding.sentence} (${finding.url})` : `- Not found: ${query}`;
  });
  return { text: lines.join("\n") };
}

/** False for a fetch that a crash interrupted before its page came: reading it again harms nothing. */
const isOver = ({ result }: Exchange["results"][number]): boolean => result.outcome !== "interrupted";

const call = (name: string, args: JsonObject): { readonly name: string; readonly args: JsonObject } => ({ name, args });

/** A text among arguments; empty where there is none. */
function textIn(args: unknown, name: string): string {
  const value = typeof args === "object" && args !== null ? (args as JsonObject)[name] : undefined;
  return typeof value === "string" ? value : "";
}

/** The searches of other researchers. */
function earlierSearches(results: Exchange["results"]): readonly string[] {
  return results.flatMap(({ result }) => {
    try {
      const { searches } = JSON.parse(shown(result)) as { readonly searches?: unknown };
      return Array.isArray(searches) ? searches.map(String) : [];
    } catch {
      return [];
    }
  });
}
