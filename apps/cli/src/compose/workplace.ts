import { existsSync } from "node:fs";
import { type Agent, type AgentSession, createSession, readOpening } from "@loopwright/core";
import type { ModelProvider, SessionStore } from "@loopwright/core/ports";
import { sqliteStore } from "@loopwright/store-sqlite";
import type { Settings } from "../settings/settings.ts";
import { type AssistantOptions, createAssistant } from "./create-assistant.ts";
import { createProvider } from "./create-provider.ts";
import { findSession, localScope } from "./kept-sessions.ts";
import { loadTools } from "./load-tools.ts";

/** Everything that a run needs. */
export interface Workplace {
  readonly settings: Settings;
  readonly provider: ModelProvider;
  readonly agent: Agent;
  readonly store: SessionStore;
}

/**
 * Agent and store of the settings. Nothing is sent, and no file is made yet; one that exists is looked at, so that a broken store
 * is told before anything is asked.
 * @throws AgentError MODEL_KEY_MISSING, CONFIG_INVALID, STORE_*
 */
export async function openWorkplace(settings: Settings, options: Pick<AssistantOptions, "isAttended" | "surface">): Promise<Workplace> {
  const provider = await createProvider(settings);
  const ownTools = settings.toolsFile === undefined ? [] : await loadTools(settings.toolsFile, process.cwd());
  const agent = createAssistant({ provider, ...options, filesDirectory: settings.filesDirectory, ownTools });
  const store = sqliteStore(settings.storeFile);
  if (existsSync(settings.storeFile)) await store.index.list(localScope, { limit: 1 });
  return { settings, provider, agent, store };
}

/** A new session, or the one of this id. @throws AgentError SESSION_NOT_FOUND when the store does not know the id. */
export async function openSession({ agent, store }: Pick<Workplace, "agent" | "store">, id: string | undefined): Promise<AgentSession> {
  if (id === undefined) return createSession({ agent, store });
  await findSession(store, id);
  const { tools, prompt } = (await readOpening(store, { scope: localScope, session: id })) ?? {};
  return createSession({ agent, store, id, ...(tools ? { tools } : {}), ...(prompt === undefined ? {} : { prompt }) }).ready();
}
