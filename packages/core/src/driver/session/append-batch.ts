import { AgentError, isAgentError } from "../../errors.ts";
import { shownId } from "../../message/shown-id.ts";
import type { AppendOutcome, AppendRequest, SessionRef } from "../../ports/session-log.ts";
import { fileNoteName, isFileName } from "../../stores/stored-file-name.ts";
import { namedBlobs } from "../log/blobs-named-by-facts.ts";
import { type RetryOptions, retryStoreRequest } from "../log/retry-store-request.ts";
import { fitsBatch, spillBatch } from "../log/spill-large-values.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { Deps } from "../setup/session-deps.ts";

/** An append with a known outcome. `refused`: it has a fact that the store never takes (INPUT_INVALID), or names a blob that does not exist (BLOB_UNKNOWN). */
export type AppendedBatch = Exclude<AppendOutcome, { readonly type: "unknown" }> | { readonly type: "refused"; readonly error: AgentError };

/**
 * Appends one batch, and retries under the same batch id until the outcome is known.
 * @throws AgentError STORE_UNAVAILABLE when the outcome stays unknown: the caller must then behave as if its process had died.
 */
export async function appendBatch(
  { store, isPrivate, clock, ref, staysFor }: Pick<Deps, "store" | "isPrivate" | "clock" | "ref"> & Pick<RetryOptions, "staysFor">,
  request: AppendRequest,
): Promise<AppendedBatch> {
  const named = namedBlobs(request.facts);
  let batch: AppendRequest | undefined = named.length === 0 && fitsBatch(request.facts) ? request : undefined;
  // The session becomes an owner of the blobs before the log names them, so that a later deletion of the session finds them. A repetition changes nothing.
  const prepare = async (): Promise<AppendRequest> => {
    await Promise.all(named.map((key) => takeOver(store, ref, key)));
    return { ...request, facts: await spillBatch(request.facts, store.blobs, ref) };
  };
  const append = async (): Promise<AppendedBatch | undefined> => {
    batch ??= await prepare();
    const outcome = await store.log.append(ref, batch);
    return outcome.type === "unknown" ? undefined : outcome;
  };
  try {
    // A store in memory answers at once, and its outcome is never unknown.
    const outcome = isPrivate && batch ? await store.log.append(ref, batch) : undefined;
    if (outcome && outcome.type !== "unknown") return outcome;
    return await retryStoreRequest(append, { clock, staysFor, answerMs: isPrivate ? Number.POSITIVE_INFINITY : driverLimits.appendMs });
  } catch (error) {
    if (isAgentError(error, "INPUT_INVALID") || isAgentError(error, "BLOB_UNKNOWN")) return { type: "refused", error };
    throw error;
  }
}

/** @throws AgentError BLOB_UNKNOWN when there is no such blob, because with its name in the log every later model call of the session would fail */
async function takeOver({ blobs }: Deps["store"], { scope, session }: SessionRef, key: string): Promise<void> {
  // A removed session may not own blobs either; the append reports the removal.
  const [isOwned] = await Promise.all([blobs.own(scope, key, session), isFileName(key) && blobs.own(scope, fileNoteName(key), session)]);
  if (isOwned || (await blobs.get(scope, key))) return;
  throw new AgentError("BLOB_UNKNOWN", {
    message: `There is no file \`${shownId(key)}\`.`,
    fix: "Upload it with `POST /api/files`, or write it with `store.blobs.put`, before it is named.",
  });
}
