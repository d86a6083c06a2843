import type { Clock } from "../ports/clock.ts";

/** Into how many timers a deadline is divided: a process that is stopped for any time is charged for at most one of them. */
const slices = 8;

/** How long a wait may take. */
export interface DeadlineOptions {
  /** Milliseconds in which this process can read answers. */
  readonly ms: number;
  /** Whether the process may end before. Default: it stays. */
  readonly idle?: boolean;
}

/**
 * Calls `passed` once, after `ms` in which this process could read answers. Time in which it was blocked or starved counts for an eighth of
 * `ms` at most, and sockets are read once more at the end: an answer that came in time is not taken for one that is missing. Returns what cancels it,
 * which is idempotent.
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
