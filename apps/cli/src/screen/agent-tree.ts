import type { AgentEvent, Cost, Message, Usage } from "@loopwright/core";
import { oneLine } from "../terminal/neutralise.ts";
import { costText, usageParts } from "./footer-lines.ts";
import type { ScreenAgent } from "./screen.ts";

type Agents = readonly ScreenAgent[];

/** The children after one event of the session, or of the child `parent`. The same list where it changes nothing. */
export function foldAgents(agents: Agents, event: AgentEvent, parent?: string): Agents {
  switch (event.type) {
    case "agent_start": {
      const { session, agent } = event;
      // After a crash the call runs again and finds the same child.
      if (agents.some((known) => known.session === session)) return agents;
      return [...agents, { session, name: oneLine(agent, 60), isDone: false, ...(parent === undefined ? {} : { parent }) }];
    }
    case "agent_end": {
      const { session, usage, cost } = event;
      return changed(agents, session, ({ tool: _, ...agent }) => ({
        ...agent,
        isDone: true,
        ...(usage ? { usage } : {}),
        ...(cost ? { cost } : {}),
      }));
    }
    case "agent_delta":
      return foldAgents(agents, event.event as AgentEvent, event.session);
    case "tool_execution_start":
      if (parent === undefined) return agents;
      return changed(agents, parent, (agent) => ({ ...agent, tool: oneLine(event.label ?? event.toolName, 60) }));
    case "tool_execution_end":
      return parent === undefined ? agents : changed(agents, parent, ({ tool: _, ...agent }) => agent);
    default:
      return agents;
  }
}

function changed(agents: Agents, session: string, change: (agent: ScreenAgent) => ScreenAgent): Agents {
  const at = agents.findIndex((agent) => agent.session === session);
  const agent = agents[at];
  return agent ? agents.with(at, change(agent)) : agents;
}

/** The children of a transcript, as far as the results of their calls name them. */
export function agentsOf(messages: readonly Message[]): Agents {
  return messages.flatMap((message): readonly ScreenAgent[] => {
    if (message.role !== "tool_result") return [];
    const { details } = message;
    if (typeof details !== "object" || details === null || Array.isArray(details)) return [];
    const { agent, session, usage, cost } = details as Partial<Record<string, unknown>>;
    if (typeof agent !== "string" || typeof session !== "string") return [];
    const spent = { ...(usage ? { usage: usage as Usage } : {}), ...(cost ? { cost: cost as Cost } : {}) };
    return [{ session, name: oneLine(agent, 60), isDone: true, ...spent }];
  });
}

/** A line for each child below the one that began it: its name, what it does, and what it spent with its own children. */
export function agentLines(agents: Agents, parent?: string, depth = 0): readonly string[] {
  return agents
    .filter((agent) => agent.parent === parent)
    .flatMap((agent) => [lineOf(agent, depth), ...agentLines(agents, agent.session, depth + 1)]);
}

function lineOf({ name, isDone, tool, usage, cost, session }: ScreenAgent, depth: number): string {
  const spent = [...usageParts(usage), ...(cost ? [costText(cost.totalUsd) + (cost.partial ? "+" : "")] : [])];
  const state = isDone ? "ended" : tool === undefined ? "at work" : `runs ${tool}`;
  return `${"  ".repeat(depth)}${[name, state, ...spent, session].join(" · ")}`;
}

/** What a call shows while a child works for it. */
export function stepOf(event: AgentEvent): string | undefined {
  if (event.type === "agent_start") return `${oneLine(event.agent, 40)} at work`;
  if (event.type !== "agent_delta") return undefined;
  const inner = event.event as AgentEvent;
  if (inner.type === "tool_execution_start") return `${oneLine(event.agent, 40)}: ${oneLine(inner.label ?? inner.toolName, 40)}`;
  if (inner.type === "progress" && inner.state === "open") return `${oneLine(event.agent, 40)}: ${oneLine(inner.title, 60)}`;
  return stepOf(inner);
}
