/** When a circuit opens, and for how long. */
export interface CircuitRule {
  /** This many failures within `failuresMs`, with no answer in between, open it. */
  readonly failuresMax: number;
  readonly failuresMs: number;
  /** How long it is open at first; after each failed probe `factor` times as long, up to the cap. */
  readonly openMs: number;
  readonly factor: number;
  readonly capMs: number;
}

/** Limits of shared circuits. */
export interface FailoverLimits {
  /** For a model that another one of its chain can follow: one call that the chain moved on from opens it, for 1, 5, 25 minutes, and an hour. */
  readonly chain: CircuitRule;
  /** For a model that is alone, or the last of its chain: 5 failures in 30 s open it, for 15 s to 2 minutes. */
  readonly alone: CircuitRule;
  /** Up to this share of its time is added to it by chance. Default 0.1. */
  readonly jitterShare: number;
  /** How old the knowledge of another process' circuits may be before a call. Default 1,000. */
  readonly refreshMs: number;
  /** How long a call waits for the records. Default 500. */
  readonly recordsMs: number;
  /** A probe without a result is given to another call after this time. Default 120,000. */
  readonly probeMs: number;
  /** How long a call that comes during the probe waits, where it has no other model. Default 3,000. */
  readonly probeAskAgainMs: number;
  /** So many calls at once ask a model of a chain of which this process does not know whether it answers; the others wait for their outcome. Default 5. */
  readonly unprovenMax: number;
  /** How long they wait at most. Default 2,000. */
  readonly unprovenWaitMs: number;
  /** So long after an answer a model counts as one that answers. Default 60,000. */
  readonly provenMs: number;
  /** The number of circuits that are remembered: the latest ones. Default 1,000. */
  readonly circuitsMax: number;
  /** How often a change is tried again that another process came before. Default 5. */
  readonly conflictsMax: number;
  /** One warning about the records in this time. Default 60,000. */
  readonly warningMs: number;
}

/** The defaults. */
export const failoverLimits: FailoverLimits = {
  chain: { failuresMax: 1, failuresMs: 30_000, openMs: 60_000, factor: 5, capMs: 3_600_000 },
  alone: { failuresMax: 5, failuresMs: 30_000, openMs: 15_000, factor: 2, capMs: 120_000 },
  jitterShare: 0.1,
  refreshMs: 1_000,
  recordsMs: 500,
  probeMs: 120_000,
  probeAskAgainMs: 3_000,
  unprovenMax: 5,
  unprovenWaitMs: 2_000,
  provenMs: 60_000,
  circuitsMax: 1_000,
  conflictsMax: 5,
  warningMs: 60_000,
};
