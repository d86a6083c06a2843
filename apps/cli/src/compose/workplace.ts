import { existsSync } from "node:fs";
import { type Agent, AgentError, type AgentSession, createSession } from "@loopwright/core";
import type { ModelProvider, SessionStore } from "@loopwright/core/ports";
import { type SqliteStore, sqliteStore } from "@loopwright/store-sqlite";
import type { Settings } from "../settings/settings.ts";
import { createAssistant } from "./create-assistant.ts";
import { createProvider } from "./create-provider.ts";
import { loadTools } from "./load-tools.ts";

/** The scope of everything that the command line keeps. */
export const localScope = "local";

/** Everything that a run needs. */
export interface Workplace {
  readonly settings: Settings;
  readonly provider: ModelProvider;
  readonly agent: Agent;
  readonly store: SessionStore;
}

/** The store when its file exists: commands that only look never create one. */
export function openExistingStore(storeFile: string): SqliteStore | undefined {
  return existsSync(storeFile) ? sqliteStore(storeFile) : undefined;
}

/**
 * Agent and store of the settings. Nothing is sent, and no file is made yet; one that exists is looked at, so that a broken store
 * is told before anything is asked.
 * @throws AgentError MODEL_KEY_MISSING, CONFIG_INVALID, STORE_*
 */
export async function openWorkplace(settings: Settings, options: { readonly isAttended: boolean }): Promise<Workplace> {
  const provider = await createProvider(settings);
  const ownTools = settings.toolsFile === undefined ? [] : await loadTools(settings.toolsFile, process.cwd());
  const agent = createAssistant({ provider, filesDirectory: settings.filesDirectory, isAttended: options.isAttended, ownTools });
  const store = sqliteStore(settings.storeFile);
  if (existsSync(settings.storeFile)) await store.index.list(localScope, { limit: 1 });
  return { settings, provider, agent, store };
}

/** A new session, or the one of this id. @throws AgentError SESSION_NOT_FOUND when the store does not know the id. */
export async function openSession({ agent, store }: Pick<Workplace, "agent" | "store">, id: string | undefined): Promise<AgentSession> {
  if (id === undefined) return createSession({ agent, store });
  await findSession(store, id);
  return createSession({ agent, store, id }).ready();
}

/** @throws AgentError SESSION_NOT_FOUND when the store does not know the id. */
export async function findSession(store: SessionStore, id: string): Promise<void> {
  const isId = /^[a-z0-9][a-z0-9_-]{0,63}$/.test(id);
  if (isId && (await store.log.head({ scope: localScope, session: id })).lastSeq > 0) return;
  throw new AgentError("SESSION_NOT_FOUND", {
    message: `There is no session \`${id.slice(0, 64)}\` in this store.`,
    fix: "See `loopwright sessions list` for the ids, and check `--store`.",
  });
}

/** Id of the session that changed last. @throws AgentError SESSION_NOT_FOUND when there is none. */
export async function latestSession(store: SessionStore): Promise<string> {
  const [latest] = await store.index.list(localScope, { limit: 1 });
  if (latest) return latest.id;
  throw new AgentError("SESSION_NOT_FOUND", {
    message: "There is no session to go on with yet.",
    fix: "Start one with `loopwright chat`.",
  });
}
