import { defineTool, type Tool, type ToolEvent } from "@loopwright/core";
import { z } from "zod";
import { cleanLine } from "./page/clean-text.ts";
import { checkedHits, type SearchHit, type SearchProvider } from "./search/search-provider.ts";
import { untrustedBlock } from "./untrusted-block.ts";

export interface WebSearchArguments {
  readonly query: string;
  readonly count?: number | undefined;
}

export interface WebSearchOptions {
  readonly provider: SearchProvider;
  /** Results when the model asks for no number. Default 8. */
  readonly countDefault?: number;
  /** Results that the model may ask for, up to 20. Default 20. */
  readonly countMax?: number;
}

const searchLimits: { readonly queryMax: number; readonly countMax: number } = { queryMax: 400, countMax: 20 };

/** The tool `web_search`: ranked results with title, URL and snippet, as an untrusted block. Asking again costs another search and harms nothing: it is `idempotent`. */
export function webSearch(options: WebSearchOptions): Tool<WebSearchArguments> {
  const { provider } = options;
  const countMax = Math.min(options.countMax ?? searchLimits.countMax, searchLimits.countMax);
  const countDefault = Math.min(options.countDefault ?? 8, countMax);
  const parameters: z.ZodType<WebSearchArguments> = z.object({
    query: z.string().trim().min(1).max(searchLimits.queryMax).describe("Words that the pages should hold."),
    count: z.number().int().min(1).max(countMax).optional().describe(`How many results to give. Default ${countDefault}.`),
  });
  return defineTool({
    name: "web_search",
    label: "Web search",
    description: "Searches the web and gives the best results with title, URL and a piece of the text. Fetch a page to read all of it.",
    parameters,
    replay: "idempotent",
    timeoutMs: 30_000,
    async *execute({ query, count = countDefault }, { signal }): AsyncGenerator<ToolEvent, void> {
      const hits = checkedHits(await provider.search({ query, countMax: count }, { signal }), count);
      signal.throwIfAborted();
      // The query is not repeated: with `urls: "known"` every URL of a result may be fetched.
      const output = hits.length === 0 ? "No results. Try other words." : untrustedBlock("search_results", hits.map(shown).join("\n"));
      yield {
        type: "complete",
        output,
        details: { provider: provider.name, query: cleanLine(query, searchLimits.queryMax), hits: hits.map((hit) => ({ ...hit })) },
      };
    },
  });
}

function shown({ title, url, snippet, publishedAt }: SearchHit, index: number): string {
  const lines = [
    `${index + 1}. ${title}`,
    url,
    ...(publishedAt === undefined ? [] : [`Published: ${publishedAt}`]),
    ...(snippet === "" ? [] : [snippet]),
  ];
  return lines.join("\n   ");
}
