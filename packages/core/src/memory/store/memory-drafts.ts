import type { Json } from "../../message/json.ts";
import type { DraftStore } from "../../ports/draft-store.ts";
import type { SessionRef } from "../../ports/session-log.ts";

/** Drafts in this process, kept by reference: a draft is an immutable value. Nothing is kept for a session that was removed. */
export function memoryDrafts(isRemoved: (ref: SessionRef) => boolean): DraftStore & { forget(ref: SessionRef): void } {
  const sessions = new Map<string, Map<string, Json>>();
  const keyOf = ({ scope, session }: SessionRef): string => `${scope}/${session}`;
  return {
    async put(ref, name, value) {
      if (isRemoved(ref)) return;
      const drafts = sessions.get(keyOf(ref)) ?? new Map<string, Json>();
      sessions.set(keyOf(ref), drafts);
      drafts.set(name, value);
    },
    async get(ref, name) {
      return sessions.get(keyOf(ref))?.get(name);
    },
    async remove(ref, name) {
      sessions.get(keyOf(ref))?.delete(name);
    },
    forget(ref) {
      sessions.delete(keyOf(ref));
    },
  };
}
