import { AgentError } from "@loopwright/core";
import { z } from "zod";
import type { Route } from "../../request/route.ts";
import { toolSummary } from "../../schemas/index.ts";
import { toolSummaries } from "./tool-summaries.ts";

interface ToolsQuery {
  readonly agent?: string | undefined;
}

const query: z.ZodType<ToolsQuery> = z.object({ agent: z.string().max(64).optional() });

export const listToolsRoute: Route<unknown, ToolsQuery> = {
  method: "GET",
  path: "/api/tools",
  id: "listTools",
  summary: "The tools of an agent; of the default one where none is named.",
  access: "principal",
  query,
  responses: {
    200: { description: "The tools.", schema: z.object({ tools: z.array(toolSummary) }) },
    404: { description: "No such agent." },
  },
  handle({ scene, query }) {
    const { agents } = scene.options;
    const agent = query.agent === undefined ? agents[0] : agents.find(({ name }) => name === query.agent);
    if (!agent) throw new AgentError("AGENT_NOT_FOUND", { message: "This server has no agent of this name." });
    return Response.json({ tools: toolSummaries(agent) });
  },
};
