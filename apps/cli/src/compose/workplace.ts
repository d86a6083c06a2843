import { existsSync } from "node:fs";
import { type Agent, AgentError, type AgentSession, createSession, isAgentError } from "@loopwright/core";
import type { Logger, ModelProvider, SessionStore } from "@loopwright/core/ports";
import { commandName } from "../command-name.ts";
import type { Settings } from "../settings/settings.ts";
import { type AssistantOptions, createAssistant } from "./create-assistant.ts";
import { createProvider } from "./create-provider.ts";
import { createResearch } from "./create-research.ts";
import { findSession, localScope } from "./kept-sessions.ts";
import { loadTools } from "./load-tools.ts";
import { openStore } from "./open-store.ts";

/** Everything that a run needs. */
export interface Workplace {
  readonly settings: Settings;
  readonly provider: ModelProvider;
  /** The one that answers. */
  readonly agent: Agent;
  /** All that a server offers, the one that answers first. */
  readonly agents: readonly Agent[];
  readonly store: SessionStore;
}

export interface WorkplaceOptions extends Pick<AssistantOptions, "isAttended" | "surface"> {
  /** Gets the store's warnings for operators. */
  readonly logger?: Logger;
}

/**
 * Agent and store of the settings. Nothing is sent, and no file is made yet; one that exists is looked at, so that a broken store
 * is reported before the first question.
 * @throws AgentError MODEL_KEY_MISSING, CONFIG_INVALID, STORE_*
 */
export async function openWorkplace(settings: Settings, { logger, ...options }: WorkplaceOptions): Promise<Workplace> {
  const provider = await createProvider(settings);
  const ownTools = settings.toolsFile === undefined ? [] : await loadTools(settings.toolsFile, process.cwd());
  const assistant = createAssistant({ provider, ...options, filesDirectory: settings.filesDirectory, ownTools });
  const { webUrl, agentName } = settings;
  const research = webUrl === undefined ? [] : [await createResearch({ provider, webUrl })];
  const agents = agentName === "research" ? [...research, assistant] : [assistant, ...research];
  const agent = agents[0] ?? assistant;
  const store = await openStore(settings.store, { environment: settings.environment, ...(logger ? { logger } : {}) });
  const isToBeMade = settings.store.kind === "sqlite" && !existsSync(settings.store.file);
  try {
    if (!isToBeMade) await store.index.list(localScope, { limit: 1 });
  } catch (error) {
    await store.close();
    throw error;
  }
  return { settings, provider, agent, agents, store };
}

/**
 * A new session, or the one of this id or beginning of an id.
 * @throws AgentError SESSION_NOT_FOUND when the store does not know the id, INPUT_INVALID when several ids begin so, SESSION_AGENT_MISMATCH when the
 * session has another agent
 */
export async function openSession(
  { agent, store }: Pick<Workplace, "agent" | "store">,
  typed: string | undefined,
  options: { readonly logger?: Logger } = {},
): Promise<AgentSession> {
  if (typed === undefined) return createSession({ agent, store, ...options });
  const id = await findSession(store, typed);
  try {
    return await createSession({ agent, store, id, ...options }).ready();
  } catch (error) {
    throw isAgentError(error, "SESSION_AGENT_MISMATCH") ? otherProgram(error, { agent: agent.name, id }) : error;
  }
}

/** The same error with a fix for a person at a terminal, where there is no choice of agents. */
function otherProgram({ code, message, details }: AgentError, { agent, id }: { readonly agent: string; readonly id: string }): AgentError {
  const fix = `Continue it in the program that began it: this one has the agent \`${agent}\` only. \`${commandName()} sessions show ${id}\` shows it.`;
  return new AgentError(code, { message, details, fix });
}
