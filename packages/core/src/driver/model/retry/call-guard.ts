import type { Failure } from "../../../errors.ts";
import { circuitWaitMaxMs } from "../../../loop/retry/may-call-model-again.ts";
import type { CallGuard, GuardedCall } from "../../../ports/call-guard.ts";
import type { Clock } from "../../../ports/clock.ts";
import { type CallGuardLimits, callGuardLimits } from "./call-guard-limits.ts";
import { type BreakerTicket, type CircuitBreaker, createCircuitBreaker } from "./circuit-breaker.ts";
import { createRetryBudget, type RetryBudget } from "./retry-budget.ts";
import { createRetrySpread } from "./retry-spread.ts";

/** A new guard that nothing else shares: for tests, and for a process that simulates several processes. */
export function createCallGuard({ clock, ...changed }: { readonly clock: Clock } & Partial<CallGuardLimits>): CallGuard {
  const limits: CallGuardLimits = { ...callGuardLimits, ...changed };
  // Calls with users' own keys are counted apart: their failures must not use up the retries of the platform's key, or open its circuits.
  const [platform, own] = [meters(limits), meters(limits)];
  const spread = createRetrySpread(limits);
  const now = (): number => clock.monotonic();

  const judge = ({ budget }: Meters, failure: Failure, pauseMs: number): Failure => {
    const waitMs = Math.max(failure.retryAfterMs ?? 0, pauseMs);
    if (pauseMs > circuitWaitMaxMs) return final(failure, `the circuit of its model stays open for another ${pauseMs} ms.`);
    if (waitMs > limits.waitMaxMs - limits.jitterLeastMs) return final(failure);
    if (!budget.take(now())) return final(failure, "the retry budget of this process is exhausted.");
    return waitMs > 0 ? { ...failure, retryAfterMs: waitMs } : failure;
  };

  const guarded = (from: Meters, key: string, ticket: BreakerTicket): GuardedCall => ({
    answered: () => ticket.answered(now()),
    left: () => ticket.left(),
    judge(failure, mayRetry) {
      ticket.failed(now(), failure);
      return mayRetry ? judge(from, failure, from.breaker.pauseMs(key, now())) : failure;
    },
  });

  return {
    admit({ scope, provider, model, key: ownKey }, attempt) {
      const from = ownKey === undefined ? platform : own;
      const key = JSON.stringify([scope, provider, model, ...(ownKey === undefined ? [] : [ownKey])]);
      const admitted = from.breaker.admit(key, now());
      if ("waitMs" in admitted) {
        const waitMs = Math.ceil(admitted.waitMs);
        const message = `Calls of ${model} at ${provider} have failed repeatedly; no call is made for ${waitMs} ms.`;
        return { refused: { code: "MODEL_CIRCUIT_OPEN", message, retryable: true, retryAfterMs: waitMs } };
      }
      if (attempt === 1) from.budget.called(now());
      return { call: guarded(from, key, admitted.ticket) };
    },
    waitMs({ askedMs, spreadMs, random }) {
      const asked = Math.min(Math.max(0, askedMs), limits.waitMaxMs);
      return Math.round(spread.reserve(now(), asked + random * Math.min(spreadMs, limits.waitMaxMs - asked)));
    },
  };
}

interface Meters {
  readonly budget: RetryBudget;
  readonly breaker: CircuitBreaker;
}

const meters = (limits: CallGuardLimits): Meters => ({ budget: createRetryBudget(limits), breaker: createCircuitBreaker(limits) });

/** The failure, marked as not retryable, so that the run ends with it. `why` is added to its message. */
function final(failure: Failure, why?: string): Failure {
  return { ...failure, ...(why === undefined ? {} : { message: `${failure.message} The call was not retried: ${why}` }), retryable: false };
}

const guards = new WeakMap<Clock, CallGuard>();

/** The guard that all sessions with this clock share. A process has one clock, and so has each simulated process. */
export function guardOf(clock: Clock): CallGuard {
  const known = guards.get(clock);
  if (known) return known;
  const guard = createCallGuard({ clock });
  guards.set(clock, guard);
  return guard;
}
