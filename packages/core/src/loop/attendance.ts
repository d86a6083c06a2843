import type { Fact } from "./fact.ts";
import { isAtRest, type State } from "./state.ts";

/**
 * The state after a fact, with what became of its attendance. An owner that claims what no owner has moved since it rested only begins: nobody
 * is gone.
 */
export function attend(before: State, after: State, fact: Fact): State {
  const { attended, ...rest } = after;
  if (fact.epoch === undefined && !attended) return after;
  if (isAtRest(after)) return attended ? rest : after;
  if (!attended) return { ...after, attended: {} };
  return fact.type === "owner.claimed" && after.epoch > before.epoch ? { ...after, attended: { takenOverSeq: fact.seq } } : after;
}
