import { existsSync } from "node:fs";
import type { Approvals } from "@loopwright/approvals";
import { type Agent, AgentError, type AgentSession, type CallGuard, createSession, isAgentError } from "@loopwright/core";
import type { Logger, ModelProvider, SessionStore } from "@loopwright/core/ports";
import { cronRules } from "@loopwright/cron";
import type { Knowledge } from "@loopwright/tools-knowledge";
import { commandName } from "../command-name.ts";
import { hidingSecrets } from "../secrets/known-secrets.ts";
import { noAgent } from "../settings/chosen-agent.ts";
import type { Settings } from "../settings/settings.ts";
import type { OpenedSkills } from "../skills/open-skills.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { type AgentsOptions, createAgents, type MadeAgents } from "./create-agents.ts";
import { createChain } from "./create-provider.ts";
import { findSession, localScope } from "./kept-sessions.ts";
import { openKnowledge, withDocuments } from "./knowledge/open-knowledge.ts";
import { openApprovals, withApprovals } from "./open-approvals.ts";
import { type Failover, openFailover } from "./open-failover.ts";
import { openStore } from "./open-store.ts";

/** Everything that a run needs. */
export interface Workplace {
  readonly settings: Settings;
  /** The one that is called first. */
  readonly provider: ModelProvider;
  /** The one that answers. */
  readonly agent: Agent;
  /** All that a server offers, the one that answers first. */
  readonly agents: readonly Agent[];
  /** Modes that inputs may name. */
  readonly modes: readonly string[];
  /** Names of chatbots that inputs may name. */
  readonly chatbots: readonly string[];
  /** Skills that agents with the tool `read_skill` have. */
  readonly skills: OpenedSkills["offered"];
  readonly store: SessionStore;
  /** Decisions on calls that hold for later ones. */
  readonly approvals: Approvals;
  /** What agents search; absent: they have no knowledge base. */
  readonly knowledge: Knowledge | undefined;
  /** Leaves models that fail alone, together with the other processes on the store. Absent: no agent has a fallback. */
  readonly callGuard?: CallGuard;
  /** Lets go of the store and the knowledge base. */
  close(): Promise<void>;
}

export interface WorkplaceOptions extends AgentsOptions {
  /** The same provider, watched. It is called before the first request. */
  readonly watch?: (provider: ModelProvider) => ModelProvider;
  /** The guardrails of the process: what it gives is asked last. */
  readonly guard?: (agent: Agent) => Agent;
  /** Gets the store's warnings for operators. */
  readonly logger?: Logger;
}

/**
 * Agent and store of the settings. Nothing is sent, and no file is made yet; one that exists is looked at, so that a broken store
 * is reported before the first question.
 * @throws AgentError MODEL_KEY_MISSING, CONFIG_INVALID, STORE_*
 */
export async function openWorkplace(
  settings: Settings,
  { logger, watch = (provider) => provider, guard = (agent) => agent, ...options }: WorkplaceOptions,
): Promise<Workplace> {
  const [first, ...others] = await createChain(settings);
  const provider = watch(first);
  const opened = await openStore(settings.store, { environment: settings.environment, ...(logger ? { logger } : {}) });
  const knowledge = await openKnowledge(settings, { makes: false });
  const store = await withDocuments(opened, knowledge);
  let failover: Failover | undefined;
  let made: MadeAgents | undefined;
  const close = async (): Promise<void> => {
    await made?.close();
    await failover?.close();
    await knowledge?.close();
    await store.close();
  };
  const isToBeMade = settings.store.kind === "sqlite" && !existsSync(settings.store.file);
  try {
    if (!isToBeMade) await store.index.list(localScope, { limit: 1 });
    made = await createAgents({ settings, chain: [provider, ...others.map(watch)], store, knowledge }, options);
    for (const warning of made.skills.warnings) logger ? logger.log("warn", warning) : process.stderr.write(`${oneLine(warning, 1_000)}\n`);
    const approvals = openApprovals(settings);
    const { skills, modes, chatbots } = made;
    const agents = made.agents.map((one) =>
      skills.guard(guard(hidingSecrets(withApprovals(one, approvals), settings.configuration.secrets))),
    );
    const [agent] = agents;
    if (!agent) throw noAgent(settings.agentName, []);
    failover = await openFailover(settings, agents, logger);
    const { callGuard } = failover;
    return {
      ...{
        settings,
        provider,
        agent,
        agents,
        modes,
        chatbots,
        skills: skills.offered,
        store,
        approvals,
        knowledge,
        close,
      },
      ...(callGuard ? { callGuard } : {}),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * A new session, or the one of this id or beginning of an id.
 * @throws AgentError SESSION_NOT_FOUND when the store does not know the id, INPUT_INVALID when several ids begin so, SESSION_AGENT_MISMATCH when the
 * session has another agent
 */
export async function openSession(
  { agent, store, callGuard }: Pick<Workplace, "agent" | "store" | "callGuard">,
  typed: string | undefined,
  { logger }: { readonly logger?: Logger } = {},
): Promise<AgentSession> {
  const options = { scheduleRules: cronRules(), ...(logger ? { logger } : {}), ...(callGuard ? { callGuard } : {}) };
  if (typed === undefined) return createSession({ agent, store, ...options });
  const id = await findSession(store, typed);
  try {
    return await createSession({ agent, store, id, ...options }).ready();
  } catch (error) {
    throw isAgentError(error, "SESSION_AGENT_MISMATCH") ? otherProgram(error, { agent: agent.name, id }) : error;
  }
}

/** The same error with a fix for a person at a terminal. */
function otherProgram({ code, message, details }: AgentError, { agent, id }: { readonly agent: string; readonly id: string }): AgentError {
  const fix = `Name the agent that it began with by \`--agent\`, and its module by \`--agents\`: this one is \`${agent}\`. \`${commandName()} sessions show ${id}\` shows it.`;
  return new AgentError(code, { message, details, fix });
}
