import type { EventChannel, Logger, ScopeListener } from "@loopwright/core/ports";
import type { FrameReader } from "./frame.ts";

type Gap = (() => void) | undefined;

/** The listeners of this process to one scope, and to which of its sessions. */
export interface ScopeListeners {
  readonly isEmpty: boolean;
  readonly reader: FrameReader;
  /** `gap` gets the session whose events may have been missed. */
  addSession(session: string, gap: Gap): () => void;
  addScope(listener: ScopeListener): () => void;
}

/** Frames of other nodes are passed to `local`, which holds the listeners. */
export function createScopeListeners({
  scope,
  local,
  logger,
}: {
  readonly scope: string;
  readonly local: EventChannel;
  readonly logger: Logger;
}): ScopeListeners {
  /** Each entry is one subscription. */
  const sessions = new Map<string, Set<{ readonly gap: Gap }>>();
  const scopes = new Set<{ readonly gap: Gap }>();

  const deliver = ({ gap }: { readonly gap: Gap }): void => {
    try {
      gap?.();
    } catch (error) {
      logger.log("error", "A listener of the event channel threw.", { name: error instanceof Error ? error.name : typeof error });
    }
  };

  return {
    get isEmpty() {
      return sessions.size === 0 && scopes.size === 0;
    },
    reader: {
      wants: (session) => scopes.size > 0 || sessions.has(session),
      events: (session, events) => local.publish({ scope, session }, events),
      notification: (notification) => local.notify(scope, notification),
      missed(session) {
        const concerned = session === null ? [...sessions.values()] : [sessions.get(session) ?? []];
        for (const own of concerned) for (const one of [...own]) deliver(one);
        for (const one of [...scopes]) deliver(one);
      },
    },
    addSession(session, gap) {
      const own = sessions.get(session) ?? new Set();
      const entry = { gap };
      sessions.set(session, own.add(entry));
      return () => {
        own.delete(entry);
        if (own.size === 0 && sessions.get(session) === own) sessions.delete(session);
      };
    },
    addScope(listener) {
      const entry = { gap: listener.gap && (() => listener.gap?.()) };
      scopes.add(entry);
      return () => scopes.delete(entry);
    },
  };
}
