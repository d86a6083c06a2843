/** Time, so that a test or a simulator can own it. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  now(): number;
  /** Never goes back; for intervals. Milliseconds from an arbitrary start. */
  monotonic(): number;
  /** Runs once after `ms` (at least 0, at most 2^31 - 1). Returns what cancels it. A pending one does not keep the process alive when `idle` is true. */
  after(ms: number, run: () => void, options?: { readonly idle?: boolean }): () => void;
  /** Runs once everything that is ready now has run: what ends in the same moment is then seen together. Never within the call. */
  soon(run: () => void): void;
}
