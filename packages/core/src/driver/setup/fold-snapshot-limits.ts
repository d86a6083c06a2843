/** When a snapshot is written, and how often one is checked. */
export const snapshotLimits = {
  /** Facts since the last one. A log that is not longer is read without one. */
  facts: 200,
  /** Bytes of facts since the last one, at the most. */
  bytes: 1_048_576,
  /** Of the loads from a snapshot, how many fold the whole log too and compare. */
  checkShare: 0.01,
} as const;
