import { isAgentError } from "@loopwright/core";
import type { DraftStore } from "@loopwright/core/ports";
import { isRemoved } from "./log/is-removed.ts";
import type { OpenLogs } from "./log/open-logs.ts";
import { draftKeyOf } from "./object-keys.ts";

/** Drafts, one object each. One that cannot be written now, or read any more, is lost, as drafts may be. */
export function blobDrafts(logs: OpenLogs): DraftStore {
  const { blobs } = logs.deps;
  return {
    async put(ref, name, value) {
      await blobs.put(draftKeyOf(ref, name), new TextEncoder().encode(JSON.stringify(value)), { isDurable: false });
      // Checked after the write: a removal that begins later finds the draft, and one that began before shows here.
      if (await isRemoved(logs, ref)) await blobs.remove(draftKeyOf(ref, name), { isDurable: true });
    },
    async get(ref, name) {
      try {
        const object = await blobs.get(draftKeyOf(ref, name));
        return object && JSON.parse(new TextDecoder().decode(object.bytes));
      } catch (error) {
        if (error instanceof SyntaxError || isAgentError(error, "STORE_CORRUPT")) return undefined;
        throw error;
      }
    },
    async remove(ref, name) {
      await blobs.remove(draftKeyOf(ref, name));
    },
  };
}
