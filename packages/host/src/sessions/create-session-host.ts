import { closeForGood } from "./close-for-good.ts";
import { type LoadedParts, LoadedSessions } from "./loaded-sessions.ts";
import type { SessionHost } from "./session-host.ts";
import { type LoaderParts, SessionLoader } from "./session-loader.ts";

/** The sessions of this process: loaded when asked for, shared while used, let go when idle. */
export function createSessionHost(parts: LoaderParts & LoadedParts): SessionHost {
  const loaded = new LoadedSessions(parts);
  const loader = new SessionLoader(parts, loaded);
  return {
    async open(ref) {
      // At once where it is known: it could be let go of meanwhile.
      const known = loaded.isClosed ? undefined : loaded.get(ref);
      return loaded.lend(known ?? (await loader.load(ref)));
    },
    create: (access, wanted) => loader.create(access, wanted),
    async remove(ref) {
      const entry = await loader.load(ref);
      loaded.use(entry);
      try {
        await closeForGood(entry.session, parts.clock);
      } finally {
        loaded.leave(entry);
      }
      await loaded.drop(entry);
      await parts.store.log.remove(ref);
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
