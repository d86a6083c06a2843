import { isAgentError } from "@loopwright/core";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import type { SessionHost } from "./session-host.ts";

export interface ErasedScope {
  /** Sessions that were deleted, their children not counted. */
  readonly removed: number;
  /** Ids of the sessions under a legal hold, which stay, and with them the blobs of the scope. */
  readonly held: readonly string[];
}

/** The parts of a host that the erasure needs. */
export interface ScopeEraser {
  readonly sessions: Pick<SessionHost, "remove">;
  readonly store: Pick<SessionStore, "index" | "blobs">;
}

/** The number of sessions, or of blobs, of one page. */
const pageSize = 100;

/**
 * Deletes everything of a scope through a host (`createHost`): stops its runs, deletes its sessions and then the blobs that belong to no session. Block its
 * users first: what they begin meanwhile may stay. The next call completes a call that was cut off. With `@loopwright/store-sealed`, erase the keys of the
 * scope afterwards, which makes backups unreadable. @throws AgentError STORE_*
 */
export async function eraseScope({ sessions, store }: ScopeEraser, scope: string): Promise<ErasedScope> {
  const held: string[] = [];
  let removed = 0;
  for (let before: { readonly updatedAt: number; readonly id: string } | undefined; ; ) {
    const page = await store.index.list(scope, { limit: pageSize, ...(before ? { before } : {}) });
    for (const { id } of page) {
      if (await isRemoved(sessions, { scope, session: id })) removed++;
      else held.push(id);
    }
    const last = page.at(-1);
    if (!last) break;
    before = { updatedAt: last.updatedAt, id: last.id };
  }
  if (held.length === 0) await removeBlobs(store, scope);
  return { removed, held };
}

async function isRemoved({ remove }: Pick<SessionHost, "remove">, ref: SessionRef): Promise<boolean> {
  try {
    await remove(ref);
    return true;
  } catch (error) {
    if (isAgentError(error, "SESSION_HELD")) return false;
    // Another request has deleted the session meanwhile.
    if (isAgentError(error, "SESSION_NOT_FOUND")) return true;
    throw error;
  }
}

async function removeBlobs({ blobs }: Pick<SessionStore, "blobs">, scope: string): Promise<void> {
  for (;;) {
    const keys = await blobs.list(scope, { limit: pageSize });
    for (const key of keys) await blobs.remove(scope, key);
    if (keys.length < pageSize) return;
  }
}
