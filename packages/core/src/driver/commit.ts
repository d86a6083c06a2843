import { type AgentError, isAgentError } from "../errors.ts";
import type { AppendOutcome, AppendRequest } from "../ports/session-log.ts";
import { type AskOptions, askStore } from "./ask-store.ts";
import type { Deps } from "./deps.ts";
import { fitsBatch, lightBatch } from "./payload.ts";
import { driverLimits } from "./session-options.ts";

/** An append whose outcome is known. `refused`: with INPUT_INVALID, there is something in it that the store will never take. */
export type Committed = Exclude<AppendOutcome, { readonly type: "unknown" }> | { readonly type: "refused"; readonly error: AgentError };

/**
 * Appends one batch and stays with it until its outcome is known: after `unknown` only the same batch id is offered again.
 * @throws AgentError STORE_UNAVAILABLE when it stays unknown: the caller must then behave as if its process had died.
 */
export async function commitBatch(
  { store, clock, ref, staysFor }: Pick<Deps, "store" | "clock" | "ref"> & Pick<AskOptions, "staysFor">,
  request: AppendRequest,
): Promise<Committed> {
  let batch: AppendRequest | undefined = fitsBatch(request.facts) ? request : undefined;
  const append = async (): Promise<Committed | undefined> => {
    // Large values are in place before the fact that names them; putting one again changes nothing.
    batch ??= { ...request, facts: await lightBatch(request.facts, store.blobs, ref.scope) };
    const outcome = await store.log.append(ref, batch);
    return outcome.type === "unknown" ? undefined : outcome;
  };
  try {
    return await askStore(append, { clock, staysFor, answerMs: driverLimits.appendMs });
  } catch (error) {
    if (isAgentError(error, "INPUT_INVALID")) return { type: "refused", error };
    throw error;
  }
}
