import type { Fact } from "../loop/fact.ts";
import { checkFacts } from "./check-facts.ts";
import type { Deps } from "./deps.ts";
import { hydrate } from "./payload.ts";
import { historyLost, sessionRemoved } from "./session-errors.ts";

/**
 * The facts after `seq`, whole. Reads from the last known one on: a log that was taken away does not have it.
 * @throws AgentError SESSION_CLOSED when the log was removed, SESSION_CORRUPT when it has lost facts, SESSION_TOO_NEW, STORE_*
 */
export async function readNews(
  { store, ref, sessionId }: Pick<Deps, "store" | "ref" | "sessionId">,
  seq: number,
): Promise<readonly Fact[]> {
  if (seq === 0) {
    const read = await store.log.read(ref, { from: 1 });
    const facts = await hydrate(read, store.blobs, ref.scope);
    checkFacts(facts, { sessionId, after: 0 });
    return facts;
  }
  const read = await store.log.read(ref, { from: seq });
  if (read.length === 0) {
    const { lastSeq } = await store.log.head(ref);
    if (lastSeq === 0) throw sessionRemoved(sessionId);
    if (lastSeq < seq) throw historyLost(sessionId, lastSeq);
    return [];
  }
  const facts = await hydrate(read.slice(1), store.blobs, ref.scope);
  checkFacts(read, { sessionId, after: seq - 1 });
  return facts;
}
