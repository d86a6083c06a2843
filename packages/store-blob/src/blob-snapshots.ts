import { isAgentError } from "@loopwright/core";
import type { SnapshotStore } from "@loopwright/core/ports";
import { isRemoved } from "./log/is-removed.ts";
import type { OpenLogs } from "./log/open-logs.ts";
import { snapshotKeyOf } from "./object-keys.ts";

/** Snapshots, one object each. One that cannot be written or read is lost, as the port allows. */
export function blobSnapshots(logs: OpenLogs): SnapshotStore {
  const { blobs } = logs.deps;
  return {
    async put(ref, name, value) {
      await blobs.put(snapshotKeyOf(ref, name), new TextEncoder().encode(JSON.stringify(value)), { isDurable: false });
      // Checked after the write: a removal that begins later finds the snapshot, and one that began before shows here.
      if (await isRemoved(logs, ref)) await blobs.remove(snapshotKeyOf(ref, name), { isDurable: true });
    },
    async get(ref, name) {
      try {
        const object = await blobs.get(snapshotKeyOf(ref, name));
        return object && JSON.parse(new TextDecoder().decode(object.bytes));
      } catch (error) {
        if (error instanceof SyntaxError || isAgentError(error, "STORE_CORRUPT")) return undefined;
        throw error;
      }
    },
    async remove(ref, name) {
      await blobs.remove(snapshotKeyOf(ref, name));
    },
  };
}
