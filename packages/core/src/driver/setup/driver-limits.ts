/** Limits of the driver that no user needs to change. */
export const driverLimits = {
  /** Appends that may lose against others before the offer fails with STORE_CONFLICT. */
  conflictsMax: 10,
  /** Reads in a row, if callers come during each read. */
  refreshesMax: 10,
  /** How long a command waits for a store that does not answer. */
  commandMs: 1_800,
  /** How long a batch with an unknown outcome is sent again, if no effect runs here that would be lost. */
  unknownMs: 4_000,
  /**
   * How long effects that run here are kept while the store is unavailable, if the lease allows. More than the promised ten seconds, because the
   * last try of an outage may hang until the store's own deadline, and a connection has to be made again.
   */
  outageMs: 15_000,
  /** Leases that one command renews, if the store can renew many. */
  renewalsPerCommand: 256,
  /** How long one append or claim, and one read, perhaps of a long log, may take before it is repeated. Stores have deadlines of their own. */
  appendMs: 5_000,
  readMs: 60_000,
  /** How long the store is left alone before it is asked again, twice as long each time up to the cap. */
  askAgainMs: 50,
  askAgainCapMs: 1_000,
  /** A batch of this size takes no other offer: the rest waits for the next batch. */
  batchBytes: 524_288,
  offersPerBatch: 64,
  /** In a batch of this size, facts that follow from the state wait for the next batch; an append takes 256. */
  factsPerBatch: 120,
  /** Results of client calls that one input may bring. */
  resultsPerInput: 100,
  /** Inputs of one session that may wait for a run, or to join the open one. */
  inputsWaiting: 100,
  /** How long a batch waits for user code before it is written without the effects that need the code. */
  hookWaitMs: 20,
  /** How long one hook, prompt or lookup may take; a gate may ask a person. */
  hookMs: 600_000,
  /** How long the `accept` hooks may take in all: a sender is answered within two seconds. */
  acceptMs: 1_500,
  /** How long a filter may take for one piece of text, while its readers wait. */
  filterMs: 10_000,
  /** How long the usage ledger may take to answer. */
  ledgerMs: 5_000,
  /** How long a price table may take before a call without a limit of money begins without its price. */
  priceMs: 1_000,
  /** How long the token counter may take for one part of a request before the part is estimated. */
  counterMs: 5_000,
  /** What the hooks of one run may keep in `context.state`, and what one `note.recorded` may hold. */
  hookStateBytes: 16_384,
  noteBytes: 16_384,
  /** How long a provider may read on after its answer is complete, for the sake of the connection. */
  drainMs: 5_000,
  /** How long tools that were signalled may take to end before the session is handed over without their results. */
  handOverMs: 500,
  /** How often a log that cannot notify is read. */
  tailPollMs: 250,
  /** How often a log that cannot notify is read if there is a channel, which notifies unless it fails. */
  channelPollMs: 2_000,
  /** How often a node that waits to take a session over checks the lease of the owner, unless the lease ends sooner. */
  takeOverLookMs: 1_000,
  /** How much of one lane of another node may wait for its opening event, or for missing events. */
  heldEvents: 1_024,
  heldBytes: 1_048_576,
  /** Lanes of other nodes whose events arrive before the fact that opens them. */
  remoteLanes: 64,
  /** The time before the draft of the open lanes is written, and between two writes. */
  draftMs: 2_000,
  /** A larger draft is not written. */
  draftBytes: 262_144,
  /** How long pings keep a silent model call alive. */
  pingsAloneMs: 300_000,
  /** How long after a fault the store is asked again for watchers: twice as long after each consecutive fault, up to the cap. */
  faultBaseMs: 1_000,
  faultCapMs: 5_000,
  /** Full jitter between 0 and base x 2^attempt. */
  retryBaseMs: 500,
  retryCapMs: 30_000,
  /** Events that may wait for one reader. */
  readerBytes: 1_048_576,
  /** How long a child that was offered to other processes is left to them before the process of its parent claims it. */
  offeredMs: 1_000,
} as const;
