import type { FactDraft } from "../loop/fact.ts";
import type { AppendOutcome, AppendRequest } from "../ports/session-log.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { type AskOptions, askStore } from "./ask-store.ts";
import type { Deps } from "./deps.ts";
import { dehydrate, fitsLog } from "./payload.ts";
import { driverLimits } from "./session-options.ts";

/** An append whose outcome is known. */
export type Committed = Exclude<AppendOutcome, { readonly type: "unknown" }>;

/**
 * Appends one batch and stays with it until its outcome is known: after `unknown` only the same batch id is offered again.
 * @throws AgentError STORE_UNAVAILABLE when it stays unknown: the caller must then behave as if its process had died.
 */
export async function commitBatch(
  { store, clock, ref, staysFor }: Pick<Deps, "store" | "clock" | "ref"> & Pick<AskOptions, "staysFor">,
  request: AppendRequest,
): Promise<Committed> {
  let batch: AppendRequest | undefined = request.facts.every(fitsLog) ? request : undefined;
  const append = async (): Promise<Committed | undefined> => {
    // Large values are in place before the fact that names them; putting one again changes nothing.
    batch ??= { ...request, facts: await lighter(request.facts, store, ref.scope) };
    const outcome = await store.log.append(ref, batch);
    return outcome.type === "unknown" ? undefined : outcome;
  };
  return askStore(append, { clock, staysFor, answerMs: driverLimits.appendMs });
}

const lighter = (facts: readonly FactDraft[], store: SessionStore, scope: string): Promise<readonly FactDraft[]> =>
  Promise.all(facts.map((fact) => (fitsLog(fact) ? fact : dehydrate(fact, store.blobs, scope))));
