import type { Agent, Tool } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { prices } from "@loopwright/prices";

/** The agent that has researchers search and read the web, and writes a report whose claims cite the pages that were read. */
export async function createResearch({ provider, webUrl }: { readonly provider: ModelProvider; readonly webUrl: string }): Promise<Agent> {
  const [{ deepResearchSupervisor }, { searxng, webFetch, webSearch }] = await Promise.all([
    import("@loopwright/agents-research"),
    import("@loopwright/tools-web"),
  ]);
  // Each page is fetched at most once, whatever crashes; and only pages that a search has found or the user has named.
  const fetched = webFetch({ privateOrigins: [new URL(webUrl).origin], urls: "known", replay: "once" });
  const tools = [webSearch({ provider: searxng({ baseUrl: webUrl }) }), fetched] as readonly Tool[];
  return deepResearchSupervisor({ name: "research", provider, prices: prices(), researcher: { provider, tools, prices: prices() } });
}
