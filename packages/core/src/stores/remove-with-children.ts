import { isAgentError } from "../errors.ts";
import type { FactOf } from "../loop/fact.ts";
import type { SessionIndex } from "../ports/session-index.ts";
import type { SessionLog, SessionRef } from "../ports/session-log.ts";
import { sessionHeld } from "./session-held.ts";

interface Removable {
  readonly log: SessionLog;
  readonly index: SessionIndex;
}

/** Facts of one read, at most. */
const pageSize = 500;

/**
 * Removes a session for good, and before it everything that its runs have started, so that a removal which is cut off is completed by the next one.
 * @throws AgentError SESSION_HELD where it, or a session below it, is under a legal hold: nothing is removed then
 */
export async function removeWithChildren(store: Removable, ref: SessionRef): Promise<void> {
  await refuseHeld(store, ref);
  await removeAll(store, ref);
}

/** Passes if neither the session nor one below it is under a legal hold. The cost is the length of all their logs. @throws AgentError SESSION_HELD that names the held one */
export async function refuseHeld(store: Removable, ref: SessionRef): Promise<void> {
  for (const session of [ref.session, ...(await sessionsBelow(store, ref))]) {
    const hold = await holdOn(store.log, { scope: ref.scope, session });
    if (hold) throw sessionHeld(session, hold, ref.session);
  }
}

/** The ids of everything that the runs of the session have started, and their runs: each after those below it. */
export async function sessionsBelow({ index }: Pick<Removable, "index">, { scope, session }: SessionRef): Promise<readonly string[]> {
  const found: string[] = [];
  for (let last: { readonly updatedAt: number; readonly id: string } | undefined; ; ) {
    const page = await index.list(scope, { parent: session, ...(last ? { before: last } : {}) });
    for (const { id } of page) found.push(...(await sessionsBelow({ index }, { scope, session: id })), id);
    last = page.at(-1);
    if (!last) return found;
  }
}

async function removeAll(store: Removable, ref: SessionRef): Promise<void> {
  for (;;) {
    const below = await sessionsBelow(store, ref);
    for (const session of below) await store.log.remove({ scope: ref.scope, session });
    if (below.length === 0) break;
  }
  await store.log.remove(ref);
}

/** Of a damaged log what stands before the damage counts, which nothing that stands behind it could change. */
async function holdOn(log: SessionLog, ref: SessionRef): Promise<FactOf<"hold.changed"> | undefined> {
  let last: FactOf<"hold.changed"> | undefined;
  let limit = pageSize;
  for (let from = 1; ; ) {
    const facts = await log.read(ref, { from, limit }).catch((error: unknown) => {
      if (isAgentError(error, "SESSION_CORRUPT")) return undefined;
      throw error;
    });
    if (!facts && limit > 1) {
      limit = 1;
      continue;
    }
    for (const fact of facts ?? []) if (fact.type === "hold.changed") last = fact;
    if (!facts || facts.length < limit) return last?.held ? last : undefined;
    from += facts.length;
  }
}
