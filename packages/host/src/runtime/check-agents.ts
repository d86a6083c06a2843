import { type Access, type Agent, AgentError, createAgent, type FindAgent } from "@loopwright/core";
import type { ContextEngine, PriceTable } from "@loopwright/core/ports";

/** The agents of a runtime. */
export interface CheckedAgents {
  /** Empty if a function finds the agents. */
  readonly list: readonly Agent[];
  find(name: string, access: Access): Promise<Agent | undefined>;
  /** The checked agent for a value or a name. @throws AgentError AGENT_NOT_FOUND */
  of(agent: Agent | string): Agent;
}

/** What an agent gets if it has none of its own. */
export interface AgentDefaults {
  readonly prices: PriceTable | undefined;
  readonly context: ContextEngine | undefined;
}

/** @throws AgentError CONFIG_INVALID */
export function checkedAgents(given: readonly Agent[] | FindAgent, { prices, context }: AgentDefaults): CheckedAgents {
  const complete = (agent: Agent): Agent => {
    const wanted = { ...(prices && !agent.prices ? { prices } : {}), ...(context && !agent.context ? { context } : {}) };
    return Object.keys(wanted).length === 0 ? agent : createAgent({ ...agent, ...wanted });
  };
  // An agent is checked once, so that all its sessions use the same object.
  const known = new WeakMap<Agent, Agent>();
  const check = (agent: Agent): Agent => {
    const checked = known.get(agent) ?? complete(createAgent(agent));
    known.set(agent, checked);
    known.set(checked, checked);
    return checked;
  };
  if (typeof given === "function") {
    const find = async (name: string, access: Access): Promise<Agent | undefined> => {
      const agent = await given(name, access);
      if (agent && agent.name !== name) throw otherName(name, agent.name);
      return agent && check(agent);
    };
    return { list: [], find, of: (agent) => (typeof agent === "string" ? refuseName(agent) : check(agent)) };
  }
  if (!Array.isArray(given) || given.length === 0)
    throw new AgentError("CONFIG_INVALID", { message: "The runtime has no agent.", fix: "Pass at least one in `agents`." });
  // An agent may be an object that `createAgent` did not make: an invalid one stops the process at its start, not the first caller.
  const list: readonly Agent[] = given.map(check);
  const byName = new Map(list.map((agent) => [agent.name, agent]));
  if (byName.size < list.length)
    throw new AgentError("CONFIG_INVALID", { message: "Two agents have the same name.", fix: "Give every agent a name of its own." });
  return {
    list,
    find: async (name) => byName.get(name),
    of(agent) {
      const name = typeof agent === "string" ? agent : agent.name;
      const found = byName.get(name);
      if (found && (typeof agent === "string" || known.get(agent) === found)) return found;
      throw new AgentError("AGENT_NOT_FOUND", {
        message: `The runtime has no ${found ? "such " : ""}agent \`${String(name).slice(0, 64)}\`.`,
        fix: found ? "It has another agent of this name: pass the one that is in `agents`." : "Add it to the `agents` of `createRuntime`.",
      });
    },
  };
}

function refuseName(name: string): never {
  throw new AgentError("AGENT_NOT_FOUND", {
    message: `The runtime cannot find the agent \`${name.slice(0, 64)}\` by its name alone, because its agents are found by a function of name and access.`,
    fix: "Pass the agent itself, or open an existing session with `runtime.open`.",
  });
}

const otherName = (wanted: string, found: string): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `\`agents\` gave the agent \`${found.slice(0, 64)}\` for the name \`${wanted.slice(0, 64)}\`.`,
    fix: "Give an agent under its own name, or `undefined`.",
  });
