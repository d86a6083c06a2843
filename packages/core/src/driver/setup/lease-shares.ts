/**
 * When an owner does what within one lease, as shares of the lease (decision 0022). Of a lease of 20 s: it renews every 3 s, tries again after 2 s
 * without an answer and 500 ms after an error, and stops by itself 18 s after the last confirmed renewal. So a store may be unavailable for ten
 * seconds, whenever that begins: 3 s + 2 s + 10 s leave 3 s for another try.
 */
export const leaseShares = {
  stop: 0.9,
  renew: 0.15,
  answer: 0.1,
  retry: 0.025,
  /** A lease that is due within this share is renewed along with one that is due now. */
  together: 0.05,
  /** How long a process may be paused before it asks the store to confirm its leases. */
  gap: 0.15,
} as const;
