import { isAtRest, type State } from "../../loop/state.ts";
import type { Lease } from "../ownership/held-lease.ts";
import type { Inbox, WaitingOffer } from "./inbox.ts";
import type { PendingBatch } from "./pending-batch.ts";
import type { Launch } from "./prepare-effects.ts";
import type { PhaseName } from "./session-phase.ts";

/** The decision on everything that has arrived: one batch, and the actions that follow when the log has it. */
export interface BatchDecision {
  readonly pending: PendingBatch;
  readonly accepted: readonly WaitingOffer[];
  readonly launches: readonly Launch[];
  /** The lease under which the decision was made. */
  readonly lease: Lease | undefined;
  /** True if the lease is released with this batch. */
  readonly rests: boolean;
}

/** The state around a decision that its evaluation needs. */
export interface DecisionContext {
  readonly inbox: Inbox;
  /** The number of running effects, including those whose closing fact is in the decision. */
  readonly running: number;
  readonly phase: PhaseName;
}

/** True if the batch is to be appended. Not if it only has a claim: for a refused offer it would create a session, or wake a session that rests. */
export function isForLog({ pending, rests }: BatchDecision, before: State): boolean {
  const { facts, state } = pending;
  if (facts.length === 0 || state.status === "new") return false;
  return !(rests && isAtRest(before) && facts.every(({ type }) => type === "owner.claimed"));
}

/** True if the lease is released with the batch: no effect runs under it, and the session rests or is handed over. */
export function releasesLease(
  { pending, accepted, launches, lease }: Omit<BatchDecision, "rests">,
  { inbox, running, phase }: DecisionContext,
): boolean {
  if (!lease || inbox.isAlone || inbox.length > 0 || launches.length > 0) return false;
  if (running > accepted.filter((offer) => offer.isClosing).length) return false;
  return phase === "leaving" || isAtRest(pending.state);
}
