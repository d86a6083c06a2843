import type { FactOf } from "../fact.ts";
import type { Run } from "../state.ts";

/** Longest wait that a vendor may ask for; beyond it the run fails at once. */
export const retryAfterMaxMs = 60_000;

/** Longest wait for an open circuit; beyond it the run fails at once. */
export const circuitWaitMaxMs = 15_000;

/** How often one model call may be handed over. High, because a hand-over is no fault. */
const handOversMax = 20;

/**
 * True if another attempt follows a failed one. An attempt that was handed over does not count, because it has not failed. An attempt that leaves out refused
 * thinking (at most one per turn) does not count either, because it is another request.
 */
export function mayRetry(run: Run, fact: Pick<FactOf<"model.failed">, "failure" | "attempt" | "next">): boolean {
  const { failure } = fact;
  if (linkOf(run, fact) !== undefined) return true;
  const handedOver = run.handedOver ?? 0;
  if (failure.code === "HANDED_OVER") return handedOver < handOversMax;
  // The time limit of the run cut the call off: a last answer follows in its place.
  if (failure.code === "LIMIT_REACHED") return run.limits.onLimit === "finalize" && !run.limit;
  if (failure.code === "MODEL_THINKING_REFUSED") return failure.retryable && run.repairedTurn !== run.turn;
  const waitMaxMs = failure.code === "MODEL_CIRCUIT_OPEN" ? circuitWaitMaxMs : retryAfterMaxMs;
  return failure.retryable && (failure.retryAfterMs ?? 0) <= waitMaxMs && attemptsLeft(run, fact) > 0;
}

/** The number of attempts of the turn without those that were handed over. */
export const triesOf = ({ handedOver = 0 }: Run, { attempt }: { readonly attempt: number }): number => attempt - handedOver;

/** The number of attempts that the model has left after this one. */
export function attemptsLeft(run: Run, attempt: { readonly attempt: number }): number {
  return run.limits.attemptsMax - (triesOf(run, attempt) - (run.linkSince ?? 0));
}

/** Index in the chain of the model for the next attempt; `undefined`: the same model. */
export function linkOf({ chain, link = 0 }: Run, { next }: Pick<FactOf<"model.failed">, "next">): number | undefined {
  if (!next || !chain) return undefined;
  const place = chain.links.findIndex(
    ({ provider, model, keyOwner }, at) => at > link && provider === next.provider && model === next.model && keyOwner === next.keyOwner,
  );
  return place < 0 ? undefined : place;
}
