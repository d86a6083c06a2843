import { isAtRest, type State } from "../../loop/state.ts";
import type { Lease } from "../ownership/lease.ts";
import type { WaitingOffer } from "./inbox.ts";
import type { Launch } from "./preparing.ts";
import type { Speculation } from "./speculation.ts";

/** What a driver has made of all that came: one batch, and what follows it. */
export interface BatchDecision {
  readonly speculation: Speculation;
  readonly accepted: readonly WaitingOffer[];
  readonly launches: readonly Launch[];
  /** Under which it was made. */
  readonly lease: Lease | undefined;
  /** The lease goes back with this batch. */
  readonly rests: boolean;
}

/** True when the log is to have it. A claim alone is no session, and tells one that rests nothing: what is refused leaves no trace. */
export function isForLog({ speculation, rests }: BatchDecision, before: State): boolean {
  const { facts, state } = speculation;
  if (facts.length === 0 || state.status === "new") return false;
  return !(rests && isAtRest(before) && facts.every(({ type }) => type === "owner.claimed"));
}
