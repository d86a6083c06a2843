import type { Clock } from "../ports/clock.ts";

/** The number of timers that a deadline is divided into. A time in which the process is stopped counts as one of them at most. */
const slices = 8;

/** How long a wait may take. */
export interface DeadlineOptions {
  /** Milliseconds, of time in which this process can read answers. */
  readonly ms: number;
  /** True: the process may end before the deadline. Default false. */
  readonly idle?: boolean;
}

/**
 * Calls `passed` once, after `ms` in which this process could read answers. Time in which it was blocked or starved counts for an eighth of `ms` at most, and
 * sockets are read once more at the end: an answer that came in time is not missed. Returns an idempotent function that cancels the deadline.
 */
export function startDeadline(clock: Clock, { ms, idle = false }: DeadlineOptions, passed: () => void): () => void {
  let isCancelled = false;
  let cancelTimer = (): void => {};
  const ended = (): void => {
    if (!isCancelled) passed();
  };
  const next = (slice: number): void => {
    if (slice > slices) {
      clock.soon(ended);
      return;
    }
    // Whole milliseconds, which together are `ms`: timers of Node.js drop fractions.
    const sliceMs = Math.ceil((ms * slice) / slices) - Math.ceil((ms * (slice - 1)) / slices);
    cancelTimer = clock.after(sliceMs, () => next(slice + 1), { idle });
  };
  next(1);
  return () => {
    isCancelled = true;
    cancelTimer();
  };
}
