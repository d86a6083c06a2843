import { type Agent, type AgentModel, createAgent, type Hooks, type Tool } from "@loopwright/core";
import type { AgentKindOptions } from "./main-thread.ts";
import { planHooksWith } from "./plan-hooks.ts";
import { planWindows } from "./plan-windows.ts";
import { promptHooks } from "./prompt-hooks.ts";
import { listPages } from "./read-pages.ts";
import { historyTool, researchToolNames } from "./research-tools.ts";
import { memorySearchHistory, type SearchHistory } from "./search-history.ts";

/** A researcher: the tools that search and read, and where its searches are kept. */
export type ResearcherOptions = AgentKindOptions &
  AgentModel & {
    /** Tools that search and read. */
    readonly tools: readonly Tool[];
    /** Names of those whose argument `query` is a search. Default `web_search` and `web_search_tool`. */
    readonly searchTools?: readonly string[];
    /** Names of those that fetch a page, with its `url` and `title` in `details` of the result: such pages may be cited. Default `web_fetch`. */
    readonly pageTools?: readonly string[];
    /** Default: of this process. */
    readonly history?: SearchHistory;
    /** Which research its searches belong to. Default: that of no one else. */
    readonly research?: string;
  };

const prompt = `You research one question. First call ${researchToolNames.history}, and do not repeat a search that it lists.
Search, read, and answer with what you have found. Name the page of each claim by its address.`;

/** An agent that answers one question by searches, calls tools in parallel, and ends its answer with the pages that it has read. It stores everything but its look at earlier searches. */
export function researcherAgent(options: ResearcherOptions): Agent {
  const {
    history = memorySearchHistory(),
    research = "alone",
    searchTools = ["web_search", "web_search_tool"],
    pageTools = ["web_fetch"],
    tools,
    limits,
    hooks = [],
    ...rest
  } = options;
  const { settings, plans, toolCallsLimit, uncounted = [], parallelModels, fewShot, ...agent } = rest;
  const { windows, context } = planWindows(options.context);
  return createAgent({
    ...agent,
    ...(context ? { context } : {}),
    name: options.name ?? "researcher",
    prompt: options.prompt ?? prompt,
    parallelToolCalls: true,
    data: options.data ?? { calls: withoutHistory, results: withoutHistory },
    tools: [historyTool(history, research), ...tools],
    limits: { turnsMax: 20, ...limits },
    hooks: [
      ...hooks,
      planHooksWith(
        { settings, plans, toolCallsLimit, uncounted: [researchToolNames.history, ...uncounted], parallelModels },
        { ...(windows ? { windows } : {}) },
      ),
      promptHooks({ settings, fewShot }),
      noteSearches({ history, research, searchTools }),
      listPages(pageTools),
    ],
  });
}

/** Its look at earlier searches is of no use to later runs. */
const withoutHistory = { without: [researchToolNames.history] };

interface Noting {
  readonly history: SearchHistory;
  readonly research: string;
  readonly searchTools: readonly string[];
}

const noteSearches = ({ history, research, searchTools }: Noting): Hooks => ({
  name: "search-history",
  async review({ call, outcome }) {
    const query = call.args["query"];
    if (outcome === "ok" && searchTools.includes(call.name) && typeof query === "string") await history.add(research, query);
  },
});
