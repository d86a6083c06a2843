import type { Deps } from "../setup/session-deps.ts";
import { historyLost, missingFact, sessionRemoved } from "../setup/session-errors.ts";
import { type DecodedFacts, decodeFacts } from "./decode-facts.ts";

/**
 * The facts after `seq` (at least 1). The read includes the known fact at `seq`: if it is missing, the log was removed or has lost facts.
 * @throws AgentError SESSION_CLOSED when the log was removed, SESSION_CORRUPT when it has lost facts, STORE_*
 */
export async function readNewFacts(
  { store, ref, sessionId }: Pick<Deps, "store" | "ref" | "sessionId">,
  seq: number,
): Promise<DecodedFacts> {
  const read = await store.log.read(ref, { from: seq });
  const [known, ...news] = read;
  if (!known) {
    const { lastSeq } = await store.log.head(ref);
    if (lastSeq === 0) throw sessionRemoved(sessionId);
    if (lastSeq < seq) throw historyLost(sessionId, lastSeq);
    return { facts: [] };
  }
  if (known.seq !== seq) throw missingFact(sessionId, seq);
  if (news.length === 0) return { facts: [] };
  return decodeFacts(news, { blobs: store.blobs, scope: ref.scope, sessionId, after: seq });
}
