import { type Agent, AgentError, createAgent } from "@loopwright/core";
import { withModules } from "./modules/with-modules.ts";
import type { ServerOptions } from "./server-options.ts";

/** The options with their agents checked and told of the modules. @throws AgentError CONFIG_INVALID */
export function checkedOptions(options: ServerOptions): ServerOptions {
  const { agents: given, basePath = "", modules, limits = {}, origins = [] } = options;
  const invalid = (message: string, fix: string): AgentError => new AgentError("CONFIG_INVALID", { message, fix });
  if (!Array.isArray(given) || given.length === 0) throw invalid("The server has no agent.", "Pass at least one in `agents`.");
  // An agent may be made by hand: what cannot work stops the start of the server, not the first caller.
  const agents = given.map((agent: Agent) => createAgent(agent));
  if (new Set(agents.map(({ name }) => name)).size < agents.length)
    throw invalid("Two agents have the same name.", "Give every agent a name of its own.");
  if (!/^(?:\/[A-Za-z0-9._~-]+)*$/.test(basePath))
    throw invalid("`basePath` is no path.", "Use one like `/agents`, without a slash at its end.");
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw invalid("`origins` holds what is no origin.", "Use ones like `https://app.example.com`, without a path.");
  for (const [name, value] of Object.entries(limits))
    if (!Number.isInteger(value) || value < 1) throw invalid(`\`limits.${name}\` is ${String(value)}.`, "Use a whole number from 1 on.");
  return { ...options, agents: modules ? agents.map((agent) => withModules(agent, modules)) : agents };
}
