import { AgentError } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { ConditionalBlobs } from "../conditional-blobs.ts";
import { sealObject } from "./sealed-object.ts";

/** What bears the mark. */
export interface MarkedLog {
  readonly ref: SessionRef;
  readonly keys: { readonly damage: string };
  readonly deps: { readonly blobs: ConditionalBlobs };
  /** The mark is known to be there. */
  isMarked: boolean;
}

/**
 * Marks a damaged log beside it, so that a process that opens it later does not write to it. Never rejects: where the place does not
 * take the mark, the next process that sees the damage tries again, and the caller gets the damage as its error all the same.
 */
export async function markDamage(log: MarkedLog, damage: AgentError): Promise<void> {
  if (log.isMarked) return;
  const { damage: key } = log.keys;
  const { bytes } = sealObject({ header: { message: damage.message }, lines: [] }, { key, before: "" });
  const outcome = await log.deps.blobs.put(key, bytes, { ifNoneMatch: true }).catch(() => undefined);
  log.isMarked = outcome?.type === "written" || outcome?.type === "refused";
}

/** The error of a writer of a log that bears the mark. */
export function markedDamage({ ref, keys }: MarkedLog): AgentError {
  return new AgentError("SESSION_CORRUPT", {
    message: `The log of session \`${ref.session}\` is marked as damaged.`,
    fix: `Put its objects back from a backup, then delete \`${keys.damage}\` and start the processes of the store anew.`,
    details: { key: keys.damage },
  });
}
