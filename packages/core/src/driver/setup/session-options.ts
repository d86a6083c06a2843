import type { Agent } from "../../agent/agent.ts";
import type { ResolveModel } from "../../agent/model-ref.ts";
import type { Observer } from "../../agent/observer.ts";
import type { SessionBeginning } from "../../agent/session-beginning.ts";
import type { CallGuard } from "../../ports/call-guard.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EventChannel } from "../../ports/event-channel.ts";
import type { IdSource } from "../../ports/id-source.ts";
import type { Logger } from "../../ports/logger.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import type { TokenCounter } from "../../ports/token-counter.ts";
import type { UsageLedger } from "../../ports/usage-ledger.ts";
import type { ChildWorkers } from "./child-workers.ts";

export interface SessionOptions<Output = unknown> extends SessionBeginning {
  /** A session that exists is refused with SESSION_AGENT_MISMATCH, at its first use, unless it began with an agent of this name. */
  readonly agent: Agent<Output>;
  /** Default: a private one in memory. */
  readonly store?: SessionStore;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly logger?: Logger;
  /** Telemetry, metering, audit, notified in this order. Default: none. */
  readonly observers?: readonly Observer[];
  /** Quotas and budgets: asked before each model call. Default: none. */
  readonly ledger?: UsageLedger;
  /** Counts tokens, so that the history fills the window of its model. Default: an estimate of four characters a token. */
  readonly tokenCounter?: TokenCounter;
  /** Gives the model for each call in place of the agent's, for example one with the user's own key. Default: the agent's. */
  readonly resolveModel?: ResolveModel;
  /** Carries the events to other nodes. */
  readonly channel?: EventChannel;
  /** Bounds retries and leaves failing vendors alone. Default: the one that all sessions of this clock share, so one per process. */
  readonly callGuard?: CallGuard;
  /** Name of this handle in leases: another one of the same name takes over at once. Default: a random one per handle. */
  readonly node?: string;
  /**
   * The processes that run sessions of the store: they run children in the background, and, where there are many, other children as well. Default: none, so
   * that children run where their parent does.
   */
  readonly workers?: ChildWorkers;
  /** How long an owner may be silent before another takes over. Default 20,000. */
  readonly leaseMs?: number;
  /** Of the loads from a snapshot of the fold, how many fold the whole log too and compare the two: 0 to 1. Default 0.01. */
  readonly snapshotCheckShare?: number;
}

/**
 * What an owner does within one lease, as shares of it (decision 0022). Of a lease of 20 s: it renews every 3 s, asks again after 2 s without an
 * answer and 500 ms after a refusal, and stops by itself 18 s after the renewal that was confirmed last. So a store that is away for ten seconds
 * costs nothing, whenever that begins: 3 s + 2 s + 10 s leave 3 s in which it is asked again.
 */
export const leaseShares: {
  readonly stop: number;
  readonly renew: number;
  readonly answer: number;
  readonly retry: number;
  readonly together: number;
  readonly gap: number;
} = {
  stop: 0.9,
  renew: 0.15,
  answer: 0.1,
  retry: 0.025,
  /** A lease that is due within this share is renewed along with one that is due now. */
  together: 0.05,
  /** How long a process may stand still before it asks whether its leases stand. */
  gap: 0.15,
};

/** Limits of the driver that no user needs to turn. */
export const driverLimits: {
  readonly conflictsMax: number;
  readonly refreshesMax: number;
  readonly commandMs: number;
  readonly unknownMs: number;
  readonly outageMs: number;
  readonly renewalsPerCommand: number;
  readonly appendMs: number;
  readonly readMs: number;
  readonly askAgainMs: number;
  readonly askAgainCapMs: number;
  readonly batchBytes: number;
  readonly offersPerBatch: number;
  readonly factsPerBatch: number;
  readonly resultsPerInput: number;
  readonly inputsWaiting: number;
  readonly hookWaitMs: number;
  readonly hookMs: number;
  readonly drainMs: number;
  readonly handOverMs: number;
  readonly tailPollMs: number;
  readonly channelPollMs: number;
  readonly takeOverLookMs: number;
  readonly heldEvents: number;
  readonly heldBytes: number;
  readonly remoteLanes: number;
  readonly draftMs: number;
  readonly draftBytes: number;
  readonly pingsAloneMs: number;
  readonly acceptMs: number;
  readonly filterMs: number;
  readonly ledgerMs: number;
  readonly priceMs: number;
  readonly counterMs: number;
  readonly hookStateBytes: number;
  readonly noteBytes: number;
  readonly faultBaseMs: number;
  readonly faultCapMs: number;
  readonly retryBaseMs: number;
  readonly retryCapMs: number;
  readonly readerBytes: number;
  readonly offeredMs: number;
} = {
  /** Appends that may lose against others before the offer fails with STORE_CONFLICT. */
  conflictsMax: 10,
  /** Reads in a row because a caller came while the one before was under way. */
  refreshesMax: 10,
  /** How long a command waits for a store that does not answer. */
  commandMs: 1_800,
  /** How long a batch with an unknown outcome is sent again, where no effect runs here that would be lost. */
  unknownMs: 4_000,
  /**
   * How long what runs here is kept for a store that is away, as long as the lease allows. More than the ten seconds that are promised: the last
   * try of an outage may hang for the store's own deadline, and a connection has to be made again.
   */
  outageMs: 15_000,
  /** Leases that one command renews, where the store can renew many. */
  renewalsPerCommand: 256,
  /** How long one append or claim may take before it is asked again, and one read, which may be of a long log. Stores have deadlines of their own. */
  appendMs: 5_000,
  readMs: 60_000,
  /** How long the store is left alone before it is asked again, twice as long each time up to the cap. */
  askAgainMs: 50,
  askAgainCapMs: 1_000,
  /** Offers are held back for the next batch from here on. */
  batchBytes: 512 * 1024,
  offersPerBatch: 64,
  /** Facts that follow wait for the next batch from here on; an append takes 256. */
  factsPerBatch: 120,
  /** Results of client calls that one input may bring. */
  resultsPerInput: 100,
  /** Inputs of one session that may wait for a run, or to join the open one. */
  inputsWaiting: 100,
  /** How long a batch waits for user code before it is written without what that is for. */
  hookWaitMs: 20,
  /** How long one hook, prompt or lookup may think; a gate may be asking a person. */
  hookMs: 600_000,
  /** How long the `accept` hooks may take in all: a sender is answered within two seconds. */
  acceptMs: 1_500,
  /** How long a filter may take for one piece of text, while its readers wait. */
  filterMs: 10_000,
  /** How long the usage ledger may take to answer. */
  ledgerMs: 5_000,
  /** How long a price table may take before a call that no limit of money holds begins without its price. */
  priceMs: 1_000,
  /** How long the token counter may take for one part of a request before that is estimated. */
  counterMs: 5_000,
  /** What the hooks of one run may keep in `context.state`, and what one `note.recorded` may hold. */
  hookStateBytes: 16 * 1024,
  noteBytes: 16 * 1024,
  /** How long a provider may read on after its answer is complete, for the sake of the connection. */
  drainMs: 5_000,
  /** How long tools that were signalled may take to end before the session is handed over without their results. */
  handOverMs: 500,
  /** How often a log that cannot notify is read. */
  tailPollMs: 250,
  /** How often a log that cannot notify is read, where a channel notifies as long as it works. */
  channelPollMs: 2_000,
  /** How often a node that would take a session over looks whether the lease of its owner still runs, unless that lease is over sooner. */
  takeOverLookMs: 1_000,
  /** Of one lane of another node: what may wait for its opening event, or for what is missing before it. */
  heldEvents: 1_024,
  heldBytes: 1024 * 1024,
  /** Lanes of other nodes whose events arrive before the fact that opens them. */
  remoteLanes: 64,
  /** How often the draft of the open lanes is written, the first time after as long. */
  draftMs: 2_000,
  /** No draft is written of more. */
  draftBytes: 256 * 1024,
  /** How long pings keep a silent model call alive. */
  pingsAloneMs: 300_000,
  /** How long after a fault of the store it is asked again for the sake of watchers: twice as long after each in a row, up to the cap. */
  faultBaseMs: 1_000,
  faultCapMs: 5_000,
  /** Full jitter between 0 and base x 2^attempt. */
  retryBaseMs: 500,
  retryCapMs: 30_000,
  /** Events that may wait for one reader. */
  readerBytes: 1024 * 1024,
  /** How long a child that was offered to other processes is left to them before the process of its parent claims it. */
  offeredMs: 1_000,
};
