import type { Fact } from "./fact.ts";
import { isAtRest, type State } from "./state.ts";

/**
 * The state after a fact, with the mark that an owner was lost. A claim of a session that no owner has continued since it rested is a normal beginning:
 * no owner has died.
 */
export function trackOwnerLoss(before: State, after: State, fact: Fact): State {
  const { attended } = after;
  if (fact.epoch === undefined && !attended) return after;
  if (isAtRest(after)) return attended ? unattended(after) : after;
  if (!attended) return { ...after, attended: {} };
  return fact.type === "owner.claimed" && after.epoch > before.epoch ? { ...after, attended: { takenOverSeq: fact.seq } } : after;
}

/** Copies the whole state only if the mark changes, because this runs for every fact. */
function unattended({ attended: _, ...rest }: State): State {
  return rest;
}
