import type { Agent } from "@loopwright/core";
import { modelsOf } from "../../permissions/check-agent-use.ts";
import type { Route } from "../../request/route.ts";
import { type AgentLimits, type AgentList, agentList } from "../../schemas/index.ts";
import { toolSummaries } from "./tool-summaries.ts";

export const listAgentsRoute: Route = {
  method: "GET",
  path: "/api/agents",
  id: "listAgents",
  summary: "The agents of this server, their models and tools.",
  access: "principal",
  action: "agent.list",
  responses: { 200: { description: "The agents; `default` answers where none is named.", schema: agentList } },
  handle({ server }) {
    const summaryOf = (agent: Agent) => ({
      name: agent.name,
      model: agent.model,
      models: modelsOf(agent, server),
      contextTokens: windowsOf(agent, modelsOf(agent, server)),
      limits: limitsOf(agent),
      tools: toolSummaries(agent),
    });
    const list: AgentList = { agents: server.options.agents.map(summaryOf), default: server.options.agents[0]?.name ?? "" };
    return Response.json(list);
  },
};

function limitsOf({ limits: { turnsMax, toolCallsMax, tokensMax, costUsdMax, durationMs } }: Agent): AgentLimits {
  return { turnsMax, toolCallsMax, tokensMax, costUsdMax, durationMs };
}

function windowsOf({ provider }: Agent, models: readonly string[]): { readonly [model: string]: number } {
  const known = models.map((model) => [model, provider.capabilities(model).contextTokens] as const);
  return Object.fromEntries(known.filter((entry): entry is readonly [string, number] => entry[1] !== undefined));
}
