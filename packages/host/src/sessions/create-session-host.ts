import { type AgentSession, isAgentError } from "@loopwright/core";
import type { Clock, SessionRef } from "@loopwright/core/ports";
import { erasureOf, sessionsBelow } from "@loopwright/core/stores";
import { closeAndErase, closeExpired } from "./erase-session.ts";
import { type LoadedParts, LoadedSessions } from "./load-and-evict.ts";
import { type LoaderParts, SessionLoader } from "./load-session.ts";
import { observedRemovals } from "./observe-removals.ts";
import type { SessionHost } from "./session-host.ts";

/** The sessions of this process: loaded on demand, shared by their users, evicted when idle. */
export function createSessionHost(parts: LoaderParts & LoadedParts): SessionHost {
  const loaded = new LoadedSessions(parts);
  const loader = new SessionLoader(parts, loaded);

  /** Removes a session that `close` has closed; false if it left the session open. */
  async function erase(ref: SessionRef, close: (session: AgentSession, clock: Clock) => Promise<boolean>): Promise<boolean> {
    const erasure = erasureOf(observedRemovals(parts, ref), ref);
    await erasure.check();
    const entry = await loader.load(ref);
    loaded.use(entry);
    try {
      if (!(await close(entry.session, parts.clock))) return false;
    } finally {
      loaded.leave(entry);
    }
    await loaded.drop(entry);
    await stopBelow(ref);
    await erasure.complete();
    return true;
  }

  /** Stops the children that still run on any node: in the background, or because the process of their parent died. */
  async function stopBelow({ scope, session: above }: SessionRef): Promise<void> {
    const { store, clock } = parts;
    const stop = async (session: string): Promise<void> => {
      const known = await store.index.get(scope, session);
      if (known?.status !== "running" && known?.status !== "waiting") return;
      const entry = await loader.load({ scope, session }).catch((error: unknown) => {
        // Without the agent of the child this process cannot stop it. Its next append fails, because its log is being removed.
        if (isAgentError(error, "AGENT_NOT_FOUND") || isAgentError(error, "SESSION_NOT_FOUND")) return undefined;
        throw error;
      });
      if (!entry) return;
      loaded.use(entry);
      try {
        await closeAndErase(entry.session, clock);
      } finally {
        loaded.leave(entry);
      }
      await loaded.drop(entry);
    };
    await Promise.all((await sessionsBelow(store, { scope, session: above })).map(stop));
  }

  return {
    async open(ref) {
      // No `await` between the lookup and the loan of a loaded session: it could be evicted meanwhile.
      const known = loaded.isClosed ? undefined : loaded.get(ref);
      return loaded.lend(known ?? (await loader.load(ref)));
    },
    create: (access, wanted) => loader.create(access, wanted),
    remove: async (ref) => void (await erase(ref, closeAndErase)),
    async removeExpired(ref, { keepMs } = {}) {
      try {
        return await erase(ref, (session) => closeExpired(session, keepMs));
      } catch (error) {
        if (isAgentError(error, "SESSION_HELD")) return false;
        throw error;
      }
    },
    onLoad: (listener) => loaded.onLoad(listener),
    letGo: (ref) => void loaded.dropUnused(ref),
    node: loader.node,
    loadedSession: (ref) => loaded.get(ref)?.session,
    runOf: (ref) => loaded.get(ref)?.session.runId,
    get loaded() {
      return loaded.count;
    },
    get running() {
      return loaded.running;
    },
    close: (options) => loaded.close(options),
  };
}
