import type { ChildAgent } from "../tools/child-agent.ts";
import { type Agent, createAgent, isAgent } from "./agent.ts";

/** The agent of this name in `agents` of the tools and hooks of `parent`, with what it inherits from `parent`; `undefined`: there is none. */
export function childAgent(parent: Agent, name: string): Agent | undefined {
  const found = named(parent, name);
  return found && agentBelow(parent, found);
}

/** True if `parent` names this agent, so every process finds it. */
export const isNamedIn = (parent: Agent, agent: Agent): boolean => named(parent, agent.name) === agent;

function named({ tools, hooks }: Agent, name: string): Agent | undefined {
  const all = [...tools, ...hooks].flatMap(({ agents = [] }: { readonly agents?: readonly ChildAgent<unknown>[] }) => agents);
  return all.filter(isAgent).find((agent) => agent.name === name);
}

/** Results of `agentBelow` by parent, so all sessions of an agent share them. */
const known = new WeakMap<Agent, WeakMap<Agent, Agent>>();

/** The child's agent with the inherited hooks of `parent`, and with its prices and its context engine if the child has none. */
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
