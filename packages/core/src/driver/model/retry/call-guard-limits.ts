/** Limits of the calls that all sessions of a process together make to vendors that fail. */
export interface CallGuardLimits {
  /** Within `budgetMs` the process retries at most `retryShare` x calls + `retriesSpare` failed calls. Default 0.1 and 10. */
  readonly retryShare: number;
  readonly retriesSpare: number;
  /** Default 600,000. */
  readonly budgetMs: number;
  /** This many failures within `failuresMs`, with no answer in between, open the circuit. Default 5 in 30,000. */
  readonly failuresMax: number;
  readonly failuresMs: number;
  /** How long a circuit is open at first; doubled after each failed probe, up to the cap. Default 15,000 and 120,000. */
  readonly openMs: number;
  readonly openCapMs: number;
  /** How long a call that comes during the probe waits. Default 3,000. */
  readonly probeAskAgainMs: number;
  /** The number of circuits that are remembered: the ones with the latest failures. Default 1,000. */
  readonly circuitsMax: number;
  /** Longest wait before a retry, jitter included; a call that would have to wait longer is not retried. Default 60,000. */
  readonly waitMaxMs: number;
  /** Jitter after a wait that the vendor has asked for. Default 5,000. */
  readonly jitterLeastMs: number;
  /** At most this share of the waiting retries is due within one `bucketMs`. Default 0.05 in 100. */
  readonly bucketShare: number;
  readonly bucketMs: number;
}

/** The defaults. */
export const callGuardLimits: CallGuardLimits = {
  retryShare: 0.1,
  retriesSpare: 10,
  budgetMs: 600_000,
  failuresMax: 5,
  failuresMs: 30_000,
  openMs: 15_000,
  openCapMs: 120_000,
  probeAskAgainMs: 3_000,
  circuitsMax: 1_000,
  waitMaxMs: 60_000,
  jitterLeastMs: 5_000,
  bucketShare: 0.05,
  bucketMs: 100,
};
