/*
 * Owns: what the outcome of a call means for the circuit of its model.
 * Does not own: which calls are let through (create-failover).
 */
import type { CallTarget, GuardedCall } from "@loopwright/core";
import type { IdSource } from "@loopwright/core/ports";
import type { Circuit, CircuitParts } from "./circuit.ts";
import { healthAfter } from "./health-after.ts";
import { type Opening, opened } from "./open-circuit.ts";

/** A call that was let through. */
export interface WatchedCall {
  readonly circuit: Circuit;
  readonly target: CallTarget;
  /** The name of the probe that the call is; absent: it is none. */
  readonly by: string | undefined;
  readonly parts: CircuitParts;
  readonly ids: IdSource;
}

/** The call, whose outcome opens or closes its circuit. The first report of a probe counts; later ones count like those of any other call. */
export function watchedCall(call: GuardedCall, { circuit, target, by, parts, ids }: WatchedCall): GuardedCall {
  const { clock, limits } = parts;
  const rule = target.hasNext ? limits.chain : limits.alone;
  let isDecided = by === undefined;
  /** True for the first report of a probe. */
  const decides = (): boolean => {
    const isFirst = !isDecided;
    isDecided = true;
    return isFirst;
  };
  const answered = (): void => {
    circuit.failures = [];
    circuit.unproven.answered();
    if (decides()) circuit.change((now) => (now?.probe?.by === by ? undefined : "same"));
  };
  const left = (): void => {
    circuit.unproven.left();
    if (decides() && by !== undefined) releaseProbe(circuit, by);
  };
  const failed = (askedMs: number): void => {
    const nowMs = clock.now();
    const opening: Opening = { nowMs, rule, askedMs, random: ids.random(), jitterShare: limits.jitterShare };
    if (decides()) {
      circuit.change((now) => (now?.probe?.by === by ? opened(now, opening) : "same"));
      return;
    }
    // It began before the circuit was opened.
    if (circuit.known) return;
    circuit.failures = [...circuit.failures.filter((at) => at > nowMs - rule.failuresMs), nowMs];
    if (circuit.failures.length < rule.failuresMax) return;
    circuit.failures = [];
    circuit.change((now) => (now ? "same" : opened(undefined, opening)));
  };
  return {
    answered() {
      call.answered();
      answered();
    },
    left() {
      call.left();
      left();
    },
    judge(failure, mayRetry) {
      const isProbe = !isDecided;
      const known = call.judge(failure, mayRetry);
      const health = healthAfter(failure);
      if (health === "answer") answered();
      else if (health === "nothing") left();
      else circuit.unproven.failed();
      if (health !== "trouble") return known;
      // An attempt of a chain that its own model may make good is no failure yet.
      if (isProbe || !target.hasNext || !mayRetry || !known.retryable) failed(failure.retryAfterMs ?? 0);
      return known;
    },
  };
}

/** Gives the probe to another call. */
export function releaseProbe(circuit: Circuit, by: string): void {
  circuit.change((now) => {
    if (now?.probe?.by !== by) return "same";
    const { probe: _, ...rest } = now;
    return rest;
  });
}
