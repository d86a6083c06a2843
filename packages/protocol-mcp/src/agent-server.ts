import type { AgentCard } from "@loopwright/client";
import type { Agent } from "@loopwright/core";
import { McpServer } from "@modelcontextprotocol/server";
import { answerSchema, askSchema } from "./agent-tool-schemas.ts";
import { askAgent } from "./ask-agent.ts";
import { argumentsOf, callTool, isServerTool } from "./call-tool.ts";
import type { CallSetup } from "./run-call.ts";

export interface Offered {
  /** Those that the caller may see. */
  readonly agents: readonly AgentCard[];
  /** The agent whose tools are offered one by one. */
  readonly tools: Agent | undefined;
}

/** A server for one request: a tool for each agent, and the tools of one agent as they are. */
export function agentServer({ agents, tools }: Offered, setup: CallSetup): McpServer {
  const server = new McpServer({ name: "loopwright", version: "1.0.0" }, { capabilities: { tools: { listChanged: false } } });
  for (const { name, description = `Asks the agent \`${name}\` and returns its answer.` } of agents) {
    if (name === tools?.name) continue;
    const shown = { title: name, description, inputSchema: askSchema, outputSchema: answerSchema };
    server.registerTool(`ask_${name}`, shown, (asked, context) => askAgent(asked, context, { ...setup, agent: name }));
  }
  if (!tools || !agents.some(({ name }) => name === tools.name)) return server;
  for (const tool of tools.tools.filter(isServerTool)) {
    const { name, label: title = name, description } = tool;
    const shown = { title, description, inputSchema: argumentsOf(tool) };
    server.registerTool(name, shown, (args, context) => callTool({ agent: tools.name, name, args }, context, setup));
  }
  return server;
}
