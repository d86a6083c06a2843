import type { ClientContext } from "../client-context.ts";
import { retryBaseMs, retryCapMs } from "../client-limits.ts";
import type { ClientClock } from "../platform.ts";

/** Waits between tries: full jitter, doubled with each failure in a row. */
export interface BackOff {
  /** Tries in a row that failed. */
  readonly failures: number;
  /** How long to wait before the next try, at most `capMs` (15 s) unless `atLeastMs` is more; counts a failure. */
  next(atLeastMs?: number, capMs?: number): number;
  /** Something came. */
  reset(): void;
  /** The server's wish for the first wait. */
  setBase(ms: number): void;
}

export function createBackOff({ random }: Pick<ClientContext, "random">): BackOff {
  let baseMs = retryBaseMs;
  let failures = 0;
  return {
    get failures() {
      return failures;
    },
    next(atLeastMs = 0, capMs = retryCapMs) {
      const most = Math.min(capMs, baseMs * 2 ** failures);
      failures += 1;
      return Math.max(atLeastMs, Math.round(random() * most));
    },
    reset() {
      failures = 0;
    },
    setBase(ms) {
      baseMs = Math.min(Math.max(ms, 1), retryCapMs);
    },
  };
}

/** Resolves after the time, or at once when the signal is aborted. */
export function sleep(clock: ClientClock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}
