/** Every bound of the store in one place. */
export const storeLimits = {
  /** Logs whose tail is kept in memory. */
  openLogsMax: 1_000,
  /** How often a slot is tried when others are faster each time. */
  slotTriesMax: 50,
  /** How often a lease is tried when others are faster each time. */
  leaseTriesMax: 20,
  /** How often a read begins anew because what it reads was compacted meanwhile. */
  readTriesMax: 4,
  /** The longest pause before something is tried again. */
  pauseMsMax: 100,
  /** Requests of one call that are under way at once. */
  parallelMax: 16,
  /** A segment is not merged into a larger one than this. */
  segmentBytesMax: 4_194_304,
  /** Segments that are kept opened, of all logs together. */
  keptSegmentsMax: 4,
  /** How long the holder of a folder may stand still before another process may take it over. */
  folderLeaseMs: 15_000,
  /** How often a lease of which nothing else is known is looked at while it runs. */
  leaseLooks: 20,
  /** How often the drafts of a former holder are removed while it keeps making new ones. */
  fenceTriesMax: 100,
  /** Folders that are known to be on the disk. */
  knownFoldersMax: 10_000,
  /** Sessions whose summary is kept in memory. */
  summariesMax: 20_000,
  /** Facts that are read at once. */
  factsPerRead: 1_000,
  /** How long sweeps pass a session that a lease was seen to hold, at most. */
  heldLookMs: 3_000,
  /** Sessions of which that is remembered. */
  heldSessionsMax: 100_000,
  /** Sessions that a search looks at: those changed last. */
  searchSessionsMax: 2_000,
  /** Characters of the texts that one search looks at, about: where sessions are long, it looks at fewer of them. */
  searchCharactersMax: 16_000_000,
  /** The least time between two summaries of a session that rests. */
  summaryEveryMs: 1_000,
} as const;
