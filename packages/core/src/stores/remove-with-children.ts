import type { SessionIndex } from "../ports/session-index.ts";
import type { SessionLog, SessionRef } from "../ports/session-log.ts";

/** Removes a session for good, and before it everything that its runs have started, so that a removal that was cut off is completed by the next one. */
export async function removeWithChildren(
  { log, index }: { readonly log: SessionLog; readonly index: SessionIndex },
  ref: SessionRef,
): Promise<void> {
  for (;;) {
    const children = await index.list(ref.scope, { parent: ref.session });
    for (const { id } of children) await removeWithChildren({ log, index }, { scope: ref.scope, session: id });
    if (children.length === 0) break;
  }
  await log.remove(ref);
}
