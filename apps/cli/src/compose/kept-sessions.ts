import { existsSync } from "node:fs";
import { AgentError } from "@loopwright/core";
import { isId, type SessionStore, type SessionSummary } from "@loopwright/core/ports";
import { commandName } from "../command-name.ts";
import type { Settings } from "../settings/settings.ts";
import { openStore } from "./open-store.ts";
import { withTypedId } from "./session-beginning.ts";

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

/** Sessions of one page. */
const pageSize = 100;

/** The id of the session that was typed: a whole id or the beginning of one. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
export function findSession(store: SessionStore, typed: string): Promise<string> {
  return withTypedId(
    typed,
    async (id) => {
      await knownId(store, id);
      return id;
    },
    () => pagesOf(store),
  );
}

async function* pagesOf({ index }: SessionStore): AsyncGenerator<readonly SessionSummary[]> {
  for (let before: SessionSummary | undefined; ; ) {
    const page = await index.list(localScope, { limit: pageSize, ...(before ? { before } : {}) });
    yield page;
    before = page.at(-1);
  }
}

async function knownId(store: SessionStore, id: string): Promise<void> {
  if (isId(id) && (await store.log.head({ scope: localScope, session: id })).lastSeq > 0) return;
  throw new AgentError("SESSION_NOT_FOUND", {
    message: `There is no session \`${id.slice(0, 64)}\` in this store.`,
    fix: `See \`${commandName()} sessions list\` for the ids, and check \`--store\`.`,
  });
}
