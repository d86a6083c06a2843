import { AgentError } from "../errors.ts";
import { type Fact, type FactType, factVersion } from "../loop/fact.ts";

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
 * Checks what was read before it is folded.
 * @throws AgentError SESSION_CORRUPT when a number is missing, SESSION_TOO_NEW when a newer version wrote a fact. Nothing is skipped.
 */
export function checkFacts(facts: readonly Fact[], { sessionId, after }: { readonly sessionId: string; readonly after: number }): void {
  facts.forEach((fact, place) => {
    const seq = after + 1 + place;
    if (fact.seq !== seq)
      throw new AgentError("SESSION_CORRUPT", { message: `The log of session \`${sessionId}\` has no fact ${seq}.`, details: { seq } });
    if (fact.v <= factVersion && Object.hasOwn(known, fact.type)) return;
    throw new AgentError("SESSION_TOO_NEW", {
      message: `Fact ${seq} of session \`${sessionId}\` is of a kind that this version does not know.`,
      details: { seq, version: fact.v },
    });
  });
}
