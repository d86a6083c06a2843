import type { Json } from "../../message/json.ts";
import { refKey, type SessionRef } from "../../message/session-ref.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** Snapshots in this process, kept by reference: a snapshot is an immutable value. Nothing is kept for a session that was removed. */
export function memorySnapshots(isRemoved: (ref: SessionRef) => boolean): SnapshotStore & { forget(ref: SessionRef): void } {
  const sessions = new Map<string, Map<string, Json>>();
  return {
    async put(ref, name, value) {
      if (isRemoved(ref)) return;
      const snapshots = sessions.get(refKey(ref)) ?? new Map<string, Json>();
      sessions.set(refKey(ref), snapshots);
      snapshots.set(name, value);
    },
    async get(ref, name) {
      return sessions.get(refKey(ref))?.get(name);
    },
    async remove(ref, name) {
      sessions.get(refKey(ref))?.delete(name);
    },
    forget(ref) {
      sessions.delete(refKey(ref));
    },
  };
}
