import type { State } from "../../loop/state.ts";
import { expiredCalls } from "../ownership/dates.ts";
import type { Offer } from "./inbox.ts";

/** What is to be recorded because a date has come. */
export function lateOffer(state: State, now: number): Offer | undefined {
  if (expiredCalls(state, now).length === 0) return undefined;
  return { bodies: (newest) => expiredCalls(newest, now), needsOwner: true, isPatient: true };
}
