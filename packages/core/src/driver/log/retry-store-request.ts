/*
 * Owns: how long this process retries a store that is unavailable. Does not own: the request, and what follows the last retry.
 * Why retry: most outages are short, and without a retry the effects that run here would be lost, for example a half-written answer.
 */
import { AgentError } from "../../errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import { storeError } from "../setup/session-errors.ts";

export interface RetryOptions {
  readonly clock: Clock;
  /** How long one try may take, in milliseconds. Most stores have a shorter deadline themselves. Infinity: for a store that always answers. */
  readonly answerMs: number;
  /** For how many milliseconds after the first try the request is repeated. Called before each retry. 0: the first error is thrown at once. */
  readonly staysFor: () => number;
}

/**
 * The answer of the store. Repeats the request, after a longer wait each time, while the store is unavailable or the outcome of a try is unknown
 * (`undefined`). @throws AgentError STORE_UNAVAILABLE when the retries take too long, and every other error of the store at once
 */
export async function retryStoreRequest<T>(ask: () => Promise<T | undefined>, { clock, answerMs, staysFor }: RetryOptions): Promise<T> {
  const startedAt = clock.monotonic();
  for (let tries = 0; ; tries++) {
    let error: AgentError | undefined;
    let leastMs: number = driverLimits.unknownMs;
    try {
      const answer = await (answerMs === Number.POSITIVE_INFINITY ? ask() : within(ask(), { clock, ms: answerMs }));
      if (answer !== undefined && answer !== late) return answer;
    } catch (thrown) {
      error = storeError(thrown);
      if (error.code !== "STORE_UNAVAILABLE") throw error;
      leastMs = 0;
    }
    const leftMs = Math.max(staysFor(), leastMs) - (clock.monotonic() - startedAt);
    if (leftMs <= 0) throw error ?? unknownOutcome();
    const waitMs = Math.min(leftMs, driverLimits.askAgainCapMs, driverLimits.askAgainMs * 2 ** tries);
    await new Promise<void>((resolve) => void clock.after(waitMs, resolve));
  }
}

const late: unique symbol = Symbol("late");

function within<T>(answer: Promise<T>, { clock, ms }: { readonly clock: Clock; readonly ms: number }): Promise<T | typeof late> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(late), { idle: true });
    answer.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}

const unknownOutcome = (): AgentError =>
  new AgentError("STORE_UNAVAILABLE", { message: "The store did not answer, so the outcome of the request is unknown." });
