import type { SnapshotStore } from "@loopwright/core/ports";
import { open, seal } from "@loopwright/secrets/envelope";
import type { SessionKeys } from "./session-keys.ts";

/** Snapshots and drafts, encrypted. A value that cannot be decrypted is absent: it is computed again from the log. */
export function sealedSnapshots(snapshots: SnapshotStore, keys: SessionKeys): SnapshotStore {
  return {
    async put(ref, name, value) {
      const key = await keys.createSession(ref);
      await snapshots.put(ref, name, {
        sealed: seal(key, [ref.scope, ref.session, "snapshot", name], JSON.stringify(value)).toString("base64"),
      });
    },
    async get(ref, name) {
      const value = await snapshots.get(ref, name);
      if (typeof value !== "object" || value === null || !("sealed" in value) || typeof value["sealed"] !== "string") return undefined;
      const key = await keys.session(ref);
      const text = key && open(key, [ref.scope, ref.session, "snapshot", name], Buffer.from(value["sealed"], "base64"));
      return text && JSON.parse(text.toString("utf8"));
    },
    remove: (ref, name) => snapshots.remove(ref, name),
  };
}
