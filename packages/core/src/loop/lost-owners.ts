import type { Fact } from "./fact.ts";
import { isAtRest, type State } from "./state.ts";

/**
 * The state after a fact, with whether an owner was lost. An owner that claims a session that no owner has moved since it rested only begins: no owner
 * has died.
 */
export function trackOwnerLoss(before: State, after: State, fact: Fact): State {
  const { attended } = after;
  if (fact.epoch === undefined && !attended) return after;
  if (isAtRest(after)) return attended ? unattended(after) : after;
  if (!attended) return { ...after, attended: {} };
  return fact.type === "owner.claimed" && after.epoch > before.epoch ? { ...after, attended: { takenOverSeq: fact.seq } } : after;
}

/** A copy of the whole state, so made only where it is needed: every fact is looked at. */
function unattended({ attended: _, ...rest }: State): State {
  return rest;
}
