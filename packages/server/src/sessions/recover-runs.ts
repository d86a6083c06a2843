import { isAgentError } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { ServerScene } from "../server-scene.ts";

/** Sessions that are looked at in one go. */
const pageSize = 200;

/** Loads every session of a scope in which a run was left open: loading goes on with it. Resolves with how many there were. */
export async function recoverRuns(
  { options, logger }: Pick<ServerScene, "options" | "logger">,
  scope: string,
  load: (ref: SessionRef) => Promise<unknown>,
): Promise<number> {
  const { index } = options.store;
  let count = 0;
  let before: { readonly updatedAt: number; readonly id: string } | undefined;
  for (;;) {
    const page = await index.list(scope, { limit: pageSize, ...(before ? { before } : {}) });
    for (const { id, status } of page) {
      if (status !== "running") continue;
      try {
        await load({ scope, session: id });
        count += 1;
      } catch (error) {
        if (isAgentError(error, "NOT_READY")) return count; // The server ends: the next process finds the rest.
        const code = isAgentError(error) ? error.code : "INTERNAL";
        logger.log("error", "A session that was left running could not be opened.", { session: id, code });
      }
    }
    const last = page.at(-1);
    if (!last || page.length < pageSize) return count;
    before = { updatedAt: last.updatedAt, id: last.id };
  }
}
