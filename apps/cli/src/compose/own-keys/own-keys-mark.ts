import { AgentError, type ResolveModel } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { localScope } from "../kept-sessions.ts";

/** What a process with users' keys leaves in the store for those without. */
const markName = "own-keys";
/** How long one look at the store counts. */
const keptMs = 5_000;

type Marked = Pick<SessionStore, "blobs">;

/** Notes in the store that users bring their own keys, so that no other process calls with the deployment's in their place. @throws AgentError STORE_* */
export async function markOwnKeys({ blobs }: Marked): Promise<void> {
  await blobs.put(localScope, markName, { bytes: new TextEncoder().encode("1"), ifAbsent: true });
}

/** Takes the note away; false if there was none. @throws AgentError STORE_* */
export const unmarkOwnKeys = ({ blobs }: Marked): Promise<boolean> => blobs.remove(localScope, markName);

const isMarked = async ({ blobs }: Marked): Promise<boolean> => (await blobs.get(localScope, markName)) !== undefined;

/**
 * What a process without users' keys calls models by: those of its agents, and none once another process on the store takes users' keys: the deployment's key is never used
 * in the place of theirs. @throws AgentError CONFIG_INVALID if users have brought keys already; the result OWN_KEY_UNUSABLE, STORE_*
 */
export async function withoutOwnKeys(store: Marked, now: () => number = () => performance.now()): Promise<ResolveModel> {
  if (await isMarked(store))
    throw new AgentError("CONFIG_INVALID", {
      message:
        "Users of this store have brought keys of their own, and this process would call models with the deployment's key in their place.",
      fix: "Pass `--own-keys`, or end it for all processes with `loopwright own-keys off`.",
    });
  let looked = { at: now(), marked: false };
  return async () => {
    if (now() - looked.at >= keptMs) looked = { at: now(), marked: await isMarked(store) };
    if (!looked.marked) return undefined;
    throw new AgentError("OWN_KEY_UNUSABLE", {
      message: "This process was started without users' keys, and another one on its store takes them.",
      fix: "Ask the operator to start all processes with `--own-keys`.",
    });
  };
}
