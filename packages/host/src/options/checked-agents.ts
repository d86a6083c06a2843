import { type Agent, AgentError, createAgent } from "@loopwright/core";
import type { HostOptions } from "./host-options.ts";
import { withModules } from "./with-modules.ts";

/** The agents, checked, and told of the modules. @throws AgentError CONFIG_INVALID */
export function checkedAgents({ agents: given, modules }: Pick<HostOptions, "agents" | "modules">): readonly Agent[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new AgentError("CONFIG_INVALID", { message: "The server has no agent.", fix: "Pass at least one in `agents`." });
  // An agent may be made by hand: what cannot work stops the start of the process, not the first caller.
  const agents = given.map((agent: Agent) => createAgent(agent));
  if (new Set(agents.map(({ name }) => name)).size < agents.length)
    throw new AgentError("CONFIG_INVALID", { message: "Two agents have the same name.", fix: "Give every agent a name of its own." });
  return modules ? agents.map((agent) => withModules(agent, modules)) : agents;
}
