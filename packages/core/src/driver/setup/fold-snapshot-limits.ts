/** When a snapshot is written, and how often one is checked. */
export const snapshotLimits = {
  /** Facts since the last snapshot. A log that is not longer is read without a snapshot. */
  facts: 200,
  /** The most bytes of facts since the last snapshot. */
  bytes: 1_048_576,
  /** The share of loads from a snapshot that fold the whole log too and compare the states. */
  checkShare: 0.01,
} as const;
