import type { SessionLog, SessionRef, SessionStore } from "@loopwright/core/ports";
import { type Knowledge, sessionCollection } from "./knowledge.ts";

/**
 * The store, which also removes what was attached to a session (`sessionCollection`) from the knowledge base when the session is erased: by a request, by
 * its retention or with its parent. Each process that erases sessions needs it. If the knowledge base fails, the session is not erased. The knowledge
 * base stays open when the store is closed.
 * @example withSessionDocuments(sqliteStore("sessions.db"), knowledge)
 */
export function withSessionDocuments(store: SessionStore, knowledge: Knowledge): SessionStore {
  const { log, index, blobs, snapshots, probe, acceptRestored } = store;
  const removeDocuments = async ({ scope, session }: SessionRef): Promise<void> => {
    const place = { scope, collection: sessionCollection(session) };
    for (const { id } of await knowledge.list(place)) await knowledge.remove(place, id);
  };
  const remove: SessionLog["remove"] = async (ref) => {
    // First of all: a removal that is cut short after the log has recorded it is finished by the store, which does not know of the documents.
    await removeDocuments(ref);
    await log.remove(ref);
    // What was attached meanwhile.
    await removeDocuments(ref);
  };
  return {
    log: withRemove(log, remove),
    ...{ index, blobs, snapshots },
    ...(probe ? { probe: () => probe.call(store) } : {}),
    ...(acceptRestored ? { acceptRestored: () => acceptRestored.call(store) } : {}),
    close: () => store.close(),
  };
}

/** The other methods belong to the log itself, which may be a class. */
function withRemove(log: SessionLog, remove: SessionLog["remove"]): SessionLog {
  return new Proxy(log, {
    get(target, name) {
      if (name === "remove") return remove;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
