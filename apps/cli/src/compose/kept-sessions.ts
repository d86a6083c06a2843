import { existsSync } from "node:fs";
import { AgentError } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import type { Settings } from "../settings/settings.ts";
import { openStore } from "./open-store.ts";

/** The scope of everything that the command line keeps. */
export const localScope = "local";

/** The store when it is there: commands that only look never create a file. @throws AgentError CONFIG_INVALID */
export async function openExistingStore({
  store,
  environment,
}: Pick<Settings, "store" | "environment">): Promise<SessionStore | undefined> {
  if (store.kind === "sqlite" && !existsSync(store.file)) return undefined;
  if (store.kind === "files" && !existsSync(store.folder)) return undefined;
  return openStore(store, { environment });
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
