import { errorClassOf, type Failure } from "../../errors.ts";
import type { KeyOwner, ModelChain } from "../fact.ts";
import { circuitWaitMaxMs, retryAfterMaxMs } from "./may-call-model-again.ts";

export type { KeyOwner, ModelChain, ModelLink } from "../fact.ts";

/** The properties of a failed attempt that the rule needs. */
export interface FailedAttempt {
  readonly failure: Failure;
  /** Index of the model in the chain. */
  readonly link: number;
  /** True if a part of its answer was published; `attempt_discarded` withdraws it. */
  readonly hasSpoken: boolean;
  /** True if a part of its answer is in the log as a message, so no other attempt may follow. */
  readonly isCommitted: boolean;
  /** The number of attempts that this model has left. */
  readonly attemptsLeft: number;
}

/**
 * The index in the chain of the model for the next attempt, which may be the same model; `undefined`: no attempt follows and the run fails.
 *
 * No attempt follows a committed answer. A wrong key, an unpaid bill, a malformed or refused request and a full context stop the chain: another
 * vendor would hide the error, and cost money. A temporary error is retried with the same model, then with the next one. After a quota error with a known
 * end, or a wait of more than a minute, the next model is called at once. An answer that could not be decoded moves to the next model only if no part
 * of it was published. A chain passes from one owner's key to another's only if the scope allows it.
 */
export function linkAfter(failed: FailedAttempt, chain: ModelChain): number | undefined {
  const { failure, link, attemptsLeft } = failed;
  if (failed.isCommitted) return undefined;
  const verdict = verdictOn(failed);
  if (verdict === "stop") return undefined;
  const again = attemptsLeft > 0 ? link : undefined;
  if (verdict === "again") return again;
  const waitMs = failure.retryAfterMs ?? 0;
  const next = nextLink(link, chain);
  if (failure.code === "MODEL_CIRCUIT_OPEN") return next ?? (waitMs <= circuitWaitMaxMs ? again : undefined);
  return verdict === "next" || waitMs > retryAfterMaxMs ? next : (again ?? next);
}

/** `again`: only with the same model; `next`: only with another one; `either`: with the same model while it has attempts left, then with another one. */
function verdictOn({ failure, hasSpoken }: FailedAttempt): "again" | "next" | "either" | "stop" {
  const { code, retryable } = failure;
  if (code === "CRASHED" || code === "HANDED_OVER") return "again";
  // The same model accepts the request without the thinking.
  if (code === "MODEL_THINKING_REFUSED") return retryable ? "again" : "stop";
  if (code === "MODEL_QUOTA_EXHAUSTED") return failure.retryAfterMs === undefined ? "stop" : "next";
  const kind = errorClassOf(code);
  switch (kind) {
    case "rate":
    case "overload":
    case "timeout":
    case "network":
      return retryable ? "either" : "stop";
    case "unknown":
      return !retryable ? "stop" : hasSpoken ? "again" : "either";
    case "auth":
    case "billing":
    case "format":
    case "refusal":
    case "context":
      return "stop";
    default:
      return kind satisfies never;
  }
}

/** True if the chain has a model that may follow this one. */
export const hasNextLink = (from: number, chain: ModelChain): boolean => nextLink(from, chain) !== undefined;

function nextLink(from: number, { links, crossings = [] }: ModelChain): number | undefined {
  const owner = links[from]?.keyOwner;
  const mayPay = (to: KeyOwner): boolean => to === owner || crossings.some((crossing) => crossing.from === owner && crossing.to === to);
  const next = links.findIndex(({ keyOwner }, place) => place > from && mayPay(keyOwner));
  return next < 0 ? undefined : next;
}
