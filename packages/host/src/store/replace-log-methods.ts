import type { SessionLog, SessionStore } from "@loopwright/core/ports";

/** The store with some methods of its log replaced. Each other method is called on the original log, because adapters may be classes. */
export function replaceLogMethods(store: SessionStore, own: Partial<SessionLog>): SessionStore {
  const { log } = store;
  return {
    log: {
      append: (ref, request) => log.append(ref, request),
      read: (ref, options) => log.read(ref, options),
      head: (ref) => log.head(ref),
      claim: (ref, claim) => log.claim(ref, claim),
      renew: (ref, lease) => log.renew(ref, lease),
      ...(log.renewAll ? { renewAll: (renewals) => log.renewAll?.(renewals) ?? Promise.resolve([]) } : {}),
      release: (ref, epoch) => log.release(ref, epoch),
      due: (options) => log.due(options),
      setDue: (ref, options) => log.setDue(ref, options),
      remove: (ref) => log.remove(ref),
      ...(log.subscribe ? { subscribe: (ref, listener) => log.subscribe?.(ref, listener) ?? (() => {}) } : {}),
      ...own,
    },
    index: store.index,
    blobs: store.blobs,
    snapshots: store.snapshots,
    ...(store.probe ? { probe: async () => store.probe?.() } : {}),
    close: () => store.close(),
  };
}
