import { AgentError, isAgentError } from "../errors.ts";
import type { FactDraft } from "../loop/fact.ts";
import type { Clock } from "../ports/clock.ts";
import type { AppendOutcome, AppendRequest, SessionRef } from "../ports/session-log.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { dehydrate, fitsLog } from "./payload.ts";
import { driverLimits } from "./session-options.ts";

/** An append whose outcome is known. */
export type Committed = Exclude<AppendOutcome, { readonly type: "unknown" }>;

/**
 * Appends one batch and stays with it until its outcome is known: after `unknown` only the same batch id is offered again.
 * @throws AgentError STORE_UNAVAILABLE when it stays unknown: the caller must then behave as if its process had died.
 */
export async function commitBatch(
  { store, clock, ref }: { readonly store: SessionStore; readonly clock: Clock; readonly ref: SessionRef },
  request: AppendRequest,
): Promise<Committed> {
  const facts = request.facts.every(fitsLog) ? request.facts : await lighter(request.facts, store, ref.scope);
  const batch = facts === request.facts ? request : { ...request, facts };
  for (let tries = 0; ; tries++) {
    const outcome = await store.log.append(ref, batch);
    if (outcome.type !== "unknown") return outcome;
    if (tries >= driverLimits.unknownsMax) throw unavailable();
    await new Promise<void>((resolve) => void clock.after(driverLimits.unknownWaitMs * 2 ** tries, resolve));
  }
}

const lighter = (facts: readonly FactDraft[], store: SessionStore, scope: string): Promise<readonly FactDraft[]> =>
  Promise.all(facts.map((fact) => (fitsLog(fact) ? fact : dehydrate(fact, store.blobs, scope))));

const unavailable = (): AgentError =>
  new AgentError("STORE_UNAVAILABLE", {
    message: "The store did not say whether it has written a batch.",
    details: { tries: driverLimits.unknownsMax },
  });

/** The error as one of ours; what a store throws against its contract counts as the store being lost. */
export function storeError(error: unknown): AgentError {
  if (isAgentError(error)) return error;
  return new AgentError("STORE_UNAVAILABLE", { message: "The store failed in an unexpected way.", cause: error });
}
