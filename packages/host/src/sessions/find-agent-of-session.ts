import { type Access, type Agent, AgentError, childAgent, type FindAgent, readOpening } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";

/** What a session began with. */
export type Opening = NonNullable<Awaited<ReturnType<typeof readOpening>>>;

export interface AgentSearch {
  readonly store: SessionStore;
  readonly findAgent: FindAgent;
  readonly access: Access;
}

/**
 * Finds the agent of a session. For a child at any depth, it is the agent of this name in the tools and hooks of its parent's agent; if there is none, the
 * agent that `findAgent` finds.
 * @throws AgentError AGENT_NOT_FOUND, STORE_*
 */
export async function agentOfSession(search: AgentSearch, opening: Opening): Promise<Agent> {
  const found = await findFor(search, opening);
  if (found) return found;
  const message = `This runtime has no agent \`${opening.agent.slice(0, 64)}\``;
  if (!opening.parent) throw new AgentError("AGENT_NOT_FOUND", { message: `${message}.` });
  throw new AgentError("AGENT_NOT_FOUND", {
    message: `${message}, and no tool or hook of the agent of its parent \`${opening.parent.session}\` names it.`,
    fix: "Name it in `agents` of the tool, or of the set of hooks, that starts it, or add it to the `agents` of the runtime.",
  });
}

async function findFor(search: AgentSearch, { agent: name, parent }: Opening): Promise<Agent | undefined> {
  const { store, findAgent, access } = search;
  const above = parent && (await readOpening(store, { scope: access.scope, session: parent.session }));
  const parentAgent = above && (await findFor(search, above));
  return (parentAgent && childAgent(parentAgent, name)) ?? (await findAgent(name, access));
}
