import type { ChildAgent } from "../tools/child-agent.ts";
import { type Agent, createAgent, isAgent } from "./agent.ts";

/** The agent of this name that the tools and hooks of an agent start as a child, as it runs below it; `undefined`: none of them names it. */
export function childAgent(parent: Agent, name: string): Agent | undefined {
  const found = named(parent, name);
  return found && agentBelow(parent, found);
}

/** True if the agent is the one that every process finds by its name. */
export const isNamedIn = (parent: Agent, agent: Agent): boolean => named(parent, agent.name) === agent;

function named({ tools, hooks }: Agent, name: string): Agent | undefined {
  const all = [...tools, ...hooks].flatMap(({ agents = [] }: { readonly agents?: readonly ChildAgent<unknown>[] }) => agents);
  return all.filter(isAgent).find((agent) => agent.name === name);
}

/** By parent, so that the sessions of an agent share what is derived from it. */
const known = new WeakMap<Agent, WeakMap<Agent, Agent>>();

/** The child's agent with the prices and the context engine of the one above it, where it has none of its own, and with the hooks that it inherits. */
export function agentBelow(parent: Agent, agent: Agent): Agent {
  const { prices, context } = parent;
  const inherited = parent.hooks.filter(({ isInherited, name }) => isInherited && !agent.hooks.some((one) => one.name === name));
  const more = {
    ...(prices && !agent.prices ? { prices } : {}),
    ...(context && !agent.context ? { context } : {}),
    ...(inherited.length > 0 ? { hooks: [...agent.hooks, ...inherited] } : {}),
  };
  if (Object.keys(more).length === 0) return agent;
  const ofParent = known.get(parent) ?? new WeakMap<Agent, Agent>();
  known.set(parent, ofParent);
  const made = ofParent.get(agent) ?? createAgent({ ...agent, ...more });
  ofParent.set(agent, made);
  return made;
}
