/** The source of time, injected so that tests and the simulator can control it. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  now(): number;
  /** Never goes back; for intervals. Milliseconds from an arbitrary start. */
  monotonic(): number;
  /** Runs once after `ms` (at least 0, at most 2^31 - 1), never synchronously. Timers run in the order of their due times. Returns a function that cancels it, which is idempotent. With `idle` the timer does not keep the process alive. */
  after(ms: number, run: () => void, options?: { readonly idle?: boolean }): () => void;
  /** Runs after all callbacks that are ready now, so that events of the same moment are handled together. Never synchronously. */
  soon(run: () => void): void;
}
