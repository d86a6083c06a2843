import type { Failure } from "../../../errors.ts";
import { circuitWaitMaxMs } from "../../../loop/turns.ts";
import type { Clock } from "../../../ports/clock.ts";
import { type CallGuardLimits, callGuardLimits } from "./call-guard-limits.ts";
import { type BreakerTicket, createCircuitBreaker } from "./circuit-breaker.ts";
import { createRetryBudget } from "./retry-budget.ts";
import { createRetrySpread } from "./retry-spread.ts";

/** Whom a call goes to, as far as circuits tell them apart. */
export interface CallTarget {
  readonly scope: string;
  readonly provider: string;
  readonly model: string;
}

/** One attempt that was let through; `judge` or `left` ends it. */
export interface GuardedCall {
  /** The vendor has begun to answer. */
  answered(): void;
  /** Nobody wants its answer any more. */
  left(): void;
  /**
   * The failure as it is to be recorded. `mayRetry`: the run would make the call again. Where the process may not, or not soon enough, it is no
   * longer retryable and says so; else it asks for the wait that the circuit needs.
   */
  judge(failure: Failure, mayRetry: boolean): Failure;
}

/** What the sessions of a process share so that a vendor in trouble is not made worse: one retry budget, one circuit per scope, provider and model. */
export interface CallGuard {
  /** Lets an attempt through, or gives the failure that it ends with at once. */
  admit(target: CallTarget, attempt: number): { readonly call: GuardedCall } | { readonly refused: Failure };
  /** Milliseconds from now until a retry: after the wait that was asked for, by a number in [0, 1) of the spread, and not in one moment with others. */
  waitMs(retry: { readonly askedMs: number; readonly spreadMs: number; readonly random: number }): number;
}

/** A guard of its own, for tests and for whoever runs several processes' worth of sessions in one. */
export function createCallGuard({ clock, ...changed }: { readonly clock: Clock } & Partial<CallGuardLimits>): CallGuard {
  const limits: CallGuardLimits = { ...callGuardLimits, ...changed };
  const budget = createRetryBudget(limits);
  const breaker = createCircuitBreaker(limits);
  const spread = createRetrySpread(limits);
  const now = (): number => clock.monotonic();

  const judge = (failure: Failure, pauseMs: number): Failure => {
    const waitMs = Math.max(failure.retryAfterMs ?? 0, pauseMs);
    if (pauseMs > circuitWaitMaxMs) return final(failure, `Its circuit is open for ${pauseMs} ms more.`);
    if (waitMs > limits.waitMaxMs - limits.jitterLeastMs) return final(failure);
    if (!budget.take(now())) return final(failure, "This process has used up its retries.");
    return waitMs > 0 ? { ...failure, retryAfterMs: waitMs } : failure;
  };

  const guarded = (key: string, ticket: BreakerTicket): GuardedCall => ({
    answered: () => ticket.answered(now()),
    left: () => ticket.left(),
    judge(failure, mayRetry) {
      ticket.failed(now(), failure);
      return mayRetry ? judge(failure, breaker.pauseMs(key, now())) : failure;
    },
  });

  return {
    admit({ scope, provider, model }, attempt) {
      const key = JSON.stringify([scope, provider, model]);
      const admitted = breaker.admit(key, now());
      if ("waitMs" in admitted) {
        const waitMs = Math.ceil(admitted.waitMs);
        const message = `Calls of ${model} at ${provider} have failed again and again: none is made for ${waitMs} ms.`;
        return { refused: { code: "MODEL_CIRCUIT_OPEN", message, retryable: true, retryAfterMs: waitMs } };
      }
      if (attempt === 1) budget.called(now());
      return { call: guarded(key, admitted.ticket) };
    },
    waitMs({ askedMs, spreadMs, random }) {
      const asked = Math.min(Math.max(0, askedMs), limits.waitMaxMs);
      return Math.round(spread.place(now(), asked + random * Math.min(spreadMs, limits.waitMaxMs - asked)));
    },
  };
}

/** What a run fails with that might have been tried again. */
function final(failure: Failure, why?: string): Failure {
  return { ...failure, ...(why === undefined ? {} : { message: `${failure.message} It was not tried again: ${why}` }), retryable: false };
}

const guards = new WeakMap<Clock, CallGuard>();

/** The guard that all sessions of a clock share. A process has one clock; so has every simulated one. */
export function guardOf(clock: Clock): CallGuard {
  const known = guards.get(clock);
  if (known) return known;
  const guard = createCallGuard({ clock });
  guards.set(clock, guard);
  return guard;
}
