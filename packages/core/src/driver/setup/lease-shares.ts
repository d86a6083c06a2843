/**
 * What an owner does within one lease, as shares of it (decision 0022). Of a lease of 20 s: it renews every 3 s, asks again after 2 s without an
 * answer and 500 ms after a refusal, and stops by itself 18 s after the renewal that was confirmed last. So a store that is away for ten seconds
 * costs nothing, whenever that begins: 3 s + 2 s + 10 s leave 3 s in which it is asked again.
 */
export const leaseShares = {
  stop: 0.9,
  renew: 0.15,
  answer: 0.1,
  retry: 0.025,
  /** A lease that is due within this share is renewed along with one that is due now. */
  together: 0.05,
  /** How long a process may stand still before it asks whether its leases stand. */
  gap: 0.15,
} as const;
