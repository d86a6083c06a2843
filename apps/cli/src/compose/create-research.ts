import type { SettingsSource } from "@loopwright/agents-research";
import type { Agent, ModelRef, Tool } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { prices } from "@loopwright/prices";

/** A web and the model that reads it. */
export interface ResearchParts {
  readonly model: readonly ModelRef[];
  readonly webUrl: string;
  /** Of the sessions of the research. */
  readonly store: SessionStore;
  /** What users have set, read before each call. */
  readonly preferences?: SettingsSource;
}

/** The agents of a web. */
export interface ResearchAgents {
  /** Has researchers search and read the web, and writes a report whose claims cite the pages that were read. */
  readonly research: Agent;
  /** Answers one question by searches, and names the pages that it has read. */
  readonly researcher: Agent;
  /** What searches and reads. */
  readonly tools: readonly Tool[];
}

/** The agents that search and read a web. */
export async function createResearch({ model, webUrl, store, preferences }: ResearchParts): Promise<ResearchAgents> {
  const [{ deepResearchSupervisor, researcherAgent, searchesInLog }, { fetchedInLog, searxng, webFetch, webSearch }] = await Promise.all([
    import("@loopwright/agents-research"),
    import("@loopwright/tools-web"),
  ]);
  // A page that a log of the run has is not fetched again, whatever crashes; and only pages that a search has found or the user has named are.
  const policy = { privateOrigins: [new URL(webUrl).origin], urls: "known", replay: "once" } as const;
  const fetch = webFetch({ ...policy, fetched: fetchedInLog(store) });
  const tools = [webSearch({ provider: searxng({ baseUrl: webUrl }) }), fetch] as readonly Tool[];
  const parts = { model, tools, prices: prices() };
  const own = preferences ? { settings: preferences } : {};
  // Each node, and each process after a restart, knows the searches of the others.
  const history = searchesInLog(store);
  return {
    research: deepResearchSupervisor({
      name: "research",
      model,
      prices: prices(),
      history,
      ...own,
      researcher: parts,
    }),
    researcher: researcherAgent({ ...parts, history, ...own }),
    tools,
  };
}
