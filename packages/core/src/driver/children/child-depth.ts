import type { Agent } from "../../agent/agent.ts";
import { AgentError } from "../../errors.ts";
import type { Run, State } from "../../loop/state.ts";
import { shownId } from "../../message/shown-id.ts";

/** The depth of a child of the open run, and the limit of depth for what that child starts. */
export function depthBelow({ parent }: State, { depthMax }: Run["limits"]): { readonly depth: number; readonly depthMax: number } {
  return { depth: (parent?.depth ?? 0) + 1, depthMax: Math.min(depthMax, parent?.depthMax ?? depthMax) };
}

/** @throws AgentError LIMIT_REACHED */
export function checkDepth(state: State, { limits }: Run, { key, agent }: { readonly key: string; readonly agent: Agent }): void {
  const below = depthBelow(state, limits);
  if (below.depth > below.depthMax) throw tooDeep(agent.name, key, below);
}

const tooDeep = (agent: string, key: string, { depth, depthMax }: { readonly depth: number; readonly depthMax: number }): AgentError =>
  new AgentError("LIMIT_REACHED", {
    message: `The child \`${shownId(key)}\` of the agent \`${agent}\` would have the depth ${depth}, and \`limits.depthMax\` is ${depthMax}.`,
    fix: "Raise `limits.depthMax` of the agents above it, or let this agent do the work itself.",
    retryable: false,
    details: { which: "depth", limit: depthMax, depth },
  });
