import { AgentError } from "@loopwright/core";
import type { OpenLog } from "./open-log.ts";
import { sealObject } from "./sealed-object.ts";

/**
 * Says beside the log that it was seen to be damaged, so that nobody writes to it who opens it later. Never rejects: where the place does not
 * take the mark, the next one who sees the damage tries again, and whoever asked is told of the damage all the same.
 */
export async function markDamage(log: OpenLog, damage: AgentError): Promise<void> {
  if (log.isMarked) return;
  const { damage: key } = log.keys;
  const { bytes } = sealObject({ header: { message: damage.message }, lines: [] }, { key, before: "" });
  const outcome = await log.deps.blobs.put(key, bytes, { ifNoneMatch: true }).catch(() => undefined);
  log.isMarked = outcome?.type === "written" || outcome?.type === "refused";
}

/** What a writer is told of a log that bears the mark. */
export function markedDamage({ ref, keys }: OpenLog): AgentError {
  return new AgentError("SESSION_CORRUPT", {
    message: `The log of session \`${ref.session}\` was seen to be damaged.`,
    fix: `Put its objects back from a backup, then delete \`${keys.damage}\` and start the processes of the store anew.`,
    details: { key: keys.damage },
  });
}
