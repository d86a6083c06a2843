import { AgentError, readHistory } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import type { SearchHistory, SearchPlace } from "./search-history.ts";

/** Researchers of one research that are looked at, and searches that are listed. */
const most = { researchers: 100, searches: 500 } as const;

/** Which tools search. */
export interface SearchesInLogOptions {
  /** Names of the tools whose argument `query` is a search. Default `web_search` and `web_search_tool`. */
  readonly searchTools?: readonly string[];
}

/**
 * The searches of a research from the logs of its researchers: the same in every process that has the store, and after a restart. Searches that are
 * running count, those that failed do not. Reads the logs of the researchers at each look: one look for each researcher is usual.
 */
export function searchesInLog(
  store: SessionStore,
  { searchTools = ["web_search", "web_search_tool"] }: SearchesInLogOptions = {},
): SearchHistory {
  return {
    add() {
      // The log has it.
    },
    async list(research, place) {
      if (!place) throw noPlace();
      const { scope, session } = place;
      const below = await store.index.list(scope, { parent: research, limit: most.researchers });
      const ids = new Set([...below.map(({ id }) => id), session]);
      const found = await Promise.all([...ids].map((id) => searchesOf(store, { scope, session: id }, searchTools)));
      return [...new Set(found.flat())].slice(0, most.searches);
    },
  };
}

async function searchesOf(store: SessionStore, ref: SearchPlace, searchTools: readonly string[]): Promise<readonly string[]> {
  const queries = new Map<string, string>();
  for await (const batch of readHistory(store, ref))
    for (const event of batch) {
      if (event.type === "tool_execution_start" && searchTools.includes(event.toolName)) {
        const { query } = event.args;
        if (typeof query === "string") queries.set(event.callKey, query);
      } else if (event.type === "tool_execution_end" && event.outcome !== "ok") queries.delete(event.callKey);
    }
  return [...queries.values()];
}

const noPlace = (): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: "The searches of a research were asked for without the session that asks.",
    fix: "Pass `{ scope, session }` as the second argument of `list`.",
  });
