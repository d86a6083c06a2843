import { isAtRest, type State } from "../../loop/state.ts";
import type { Lease } from "../ownership/lease.ts";
import type { Launch } from "./effect-preparation.ts";
import type { Inbox, WaitingOffer } from "./inbox.ts";
import type { PhaseName } from "./session-phase.ts";
import type { Speculation } from "./speculation.ts";

/** What a driver makes of everything that arrived: one batch, and what is done once the log has it. */
export interface BatchDecision {
  readonly speculation: Speculation;
  readonly accepted: readonly WaitingOffer[];
  readonly launches: readonly Launch[];
  /** Under which it was made. */
  readonly lease: Lease | undefined;
  /** The lease is released with this batch. */
  readonly rests: boolean;
}

/** What a decision is judged by, beside itself. */
export interface DecisionContext {
  readonly inbox: Inbox;
  /** Effects under way, those included whose closing fact is in the decision. */
  readonly running: number;
  readonly phase: PhaseName;
}

/** Whether the log is to have it. A claim alone is no session, and has no meaning for one that rests: what is refused leaves no trace. */
export function isForLog({ speculation, rests }: BatchDecision, before: State): boolean {
  const { facts, state } = speculation;
  if (facts.length === 0 || state.status === "new") return false;
  return !(rests && isAtRest(before) && facts.every(({ type }) => type === "owner.claimed"));
}

/** Whether the lease is released with the decision: nothing is left to do under it, and the session rests or is handed over. */
export function releasesLease(
  { speculation, accepted, launches, lease }: Omit<BatchDecision, "rests">,
  { inbox, running, phase }: DecisionContext,
): boolean {
  if (!lease || inbox.isAlone || inbox.length > 0 || launches.length > 0) return false;
  if (running > accepted.filter((offer) => offer.isClosing).length) return false;
  return phase === "leaving" || isAtRest(speculation.state);
}
