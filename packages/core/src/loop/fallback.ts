import { errorClassOf, type Failure } from "../errors.ts";
import type { KeyOwner, ModelChain } from "./fact.ts";
import { circuitWaitMaxMs, retryAfterMaxMs } from "./turns.ts";

export type { KeyOwner, ModelChain, ModelLink } from "./fact.ts";

/** An attempt that failed, as far as the rule must know it. */
export interface FailedAttempt {
  readonly failure: Failure;
  /** Place of its model in the chain. */
  readonly link: number;
  /** Something of its answer was shown already; `attempt_discarded` withdraws it. */
  readonly hasSpoken: boolean;
  /** Some of it is a message of the log: nothing may follow it. */
  readonly isCommitted: boolean;
  /** Attempts that this model has left. */
  readonly attemptsLeft: number;
}

/**
 * The place in the chain of the model that the next attempt goes to, which may be the same one; `undefined`: none follows and the run fails.
 *
 * Nothing follows what was committed. A wrong key, an unpaid bill, a malformed or refused request and a full context stop the chain: another
 * vendor would hide them, and cost money. Trouble in passing is tried again, then with the next model. A quota that comes back at a known time, or a
 * longer wait than a minute, goes to the next model at once. An answer that was not understood moves to the next model only if no part of it was shown.
 * A chain never passes from one owner's key to another's unless the scope allows it.
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

/** `again`: only with the same model; `next`: only with another one; `either`: again as often as it may, then another one. */
function verdictOn({ failure, hasSpoken }: FailedAttempt): "again" | "next" | "either" | "stop" {
  const { code, retryable } = failure;
  if (code === "CRASHED" || code === "HANDED_OVER") return "again";
  // The same model takes it without the thinking.
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

function nextLink(from: number, { links, crossings = [] }: ModelChain): number | undefined {
  const owner = links[from]?.keyOwner;
  const mayPay = (to: KeyOwner): boolean => to === owner || crossings.some((crossing) => crossing.from === owner && crossing.to === to);
  const next = links.findIndex(({ keyOwner }, place) => place > from && mayPay(keyOwner));
  return next < 0 ? undefined : next;
}
