import { type Fact, type FactType, factVersion } from "../../loop/fact.ts";
import { upCasters } from "../../loop/up-cast.ts";
import { missingFact } from "../setup/session-errors.ts";

/** Every type that this build folds; the compiler asks for an entry when one is added. */
const known: { readonly [Type in FactType]: true } = {
  "session.opened": true,
  "session.changed": true,
  "session.closed": true,
  "input.accepted": true,
  "head.moved": true,
  "owner.claimed": true,
  "run.started": true,
  "model.started": true,
  "model.finished": true,
  "model.failed": true,
  "wait.scheduled": true,
  "tool.started": true,
  "tool.finished": true,
  "client.requested": true,
  "client.answered": true,
  "approval.requested": true,
  "approval.decided": true,
  "child.linked": true,
  "abort.requested": true,
  "limit.reached": true,
  "context.compacted": true,
  "run.finished": true,
};

/**
 * The first of the facts that this build does not know: it has a newer version, or a kind of its own.
 * @throws AgentError SESSION_CORRUPT when a number is missing. Nothing is skipped.
 */
export function firstUnknown(
  facts: readonly Fact[],
  { sessionId, after }: { readonly sessionId: string; readonly after: number },
): Fact | undefined {
  facts.forEach((fact, place) => {
    const seq = after + 1 + place;
    if (fact.seq !== seq) throw missingFact(sessionId, seq);
  });
  return facts.find(({ v, type }) => v > factVersion || !(Object.hasOwn(known, type) || (v < factVersion && v in upCasters)));
}
