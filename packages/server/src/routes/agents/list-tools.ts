import { z } from "zod";
import { accessOf } from "../../identity/access-of-principal.ts";
import { agentNotFound } from "../../permissions/check-agent-use.ts";
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
  summary: "The tools of an agent. Default: the tools of the default agent.",
  access: "principal",
  action: "agent.list",
  query,
  responses: {
    200: { description: "The tools.", schema: z.object({ tools: z.array(toolSummary) }) },
    404: { description: "No such agent." },
  },
  async handle({ principal, server, query }) {
    const { agents, findAgent } = server.options;
    const name = query.agent ?? agents[0]?.name ?? "";
    const agent = await findAgent(name, accessOf(principal));
    if (!agent) throw agentNotFound(name);
    return Response.json({ tools: toolSummaries(agent) });
  },
};
