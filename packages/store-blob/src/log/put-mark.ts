import { AgentError } from "@loopwright/core";
import type { OpenLog } from "./open-log.ts";

/** Puts an empty object that is found by its name. @throws AgentError STORE_UNAVAILABLE, STORE_FULL */
export async function putMark({ deps, ref }: OpenLog, key: string): Promise<void> {
  const outcome = await deps.blobs.put(key, new Uint8Array());
  if (outcome.type === "written") return;
  if (outcome.type === "full") throw new AgentError("STORE_FULL", { message: `There is no space left for session \`${ref.session}\`.` });
  throw new AgentError("STORE_UNAVAILABLE", { message: `The store did not answer in time about session \`${ref.session}\`.` });
}
