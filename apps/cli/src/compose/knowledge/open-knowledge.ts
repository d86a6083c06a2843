import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { AgentError } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import type { Knowledge } from "@loopwright/tools-knowledge";
import type { Settings } from "../../settings/settings.ts";

/** The settings that name a knowledge base. */
export type KnowledgeSettings = Pick<Settings, "filesDirectory" | "store"> & { readonly knowledge?: string | boolean | undefined };

/** What the knowledge base is opened for. */
export interface KnowledgeUse {
  /** False: a file that is not there and was not asked for is no knowledge base. Default true. */
  readonly makes?: boolean;
}

/**
 * The knowledge base of the settings: the file that they name (`true`: the usual one, `false`: none), else `.loopwright/knowledge.db` where it is there.
 * `undefined`: there is none. The file is made with its first document. @throws AgentError CONFIG_INVALID where sessions are in Redis or a bucket and no file was named
 */
export async function openKnowledge(settings: KnowledgeSettings, { makes = true }: KnowledgeUse = {}): Promise<Knowledge | undefined> {
  const usual = join(dirname(settings.filesDirectory), "knowledge.db");
  const asked = settings.knowledge;
  if (asked === false) return undefined;
  const path = asked === undefined || asked === true ? usual : resolve(dirname(usual), "..", asked);
  const isOfThisMachine = settings.store.kind === "sqlite" || settings.store.kind === "files";
  if (path === usual && !isOfThisMachine) {
    if (asked === undefined && !makes) return undefined;
    throw new AgentError("CONFIG_INVALID", {
      message: "Sessions are kept for several machines, and the knowledge base is a file of this one.",
      fix: "Name a file that all processes share, for example `--knowledge /shared/knowledge.db`, or leave it out.",
    });
  }
  if (asked === undefined && !makes && !existsSync(path)) return undefined;
  const { createKnowledge, sqliteKnowledgeStore } = await import("@loopwright/tools-knowledge");
  return createKnowledge({ store: sqliteKnowledgeStore({ path }) });
}

/** The store, which removes what was attached to a session from the knowledge base when the session is erased. */
export async function withDocuments(store: SessionStore, knowledge: Knowledge | undefined): Promise<SessionStore> {
  if (!knowledge) return store;
  const { withSessionDocuments } = await import("@loopwright/tools-knowledge");
  return withSessionDocuments(store, knowledge);
}
