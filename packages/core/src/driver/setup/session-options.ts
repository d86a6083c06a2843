import type { Agent } from "../../agent/agent.ts";
import type { ResolveModel } from "../../agent/model-ref.ts";
import type { Observer } from "../../agent/observer.ts";
import type { SessionBeginning } from "../../agent/session-beginning.ts";
import type { CallGuard } from "../../ports/call-guard.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EventChannel } from "../../ports/event-channel.ts";
import type { IdSource } from "../../ports/id-source.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ScheduleRules } from "../../ports/schedule-rules.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import type { TokenCounter } from "../../ports/token-counter.ts";
import type { UsageLedger } from "../../ports/usage-ledger.ts";
import type { ChildWorkers } from "./child-workers.ts";

export interface SessionOptions<Output = unknown> extends SessionBeginning {
  /** If the session exists and began with an agent of another name, its first use fails with SESSION_AGENT_MISMATCH. */
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
  /** Counts the tokens of messages, so that as much history is sent as the window of the model holds. Default: an estimate of four characters per token. */
  readonly tokenCounter?: TokenCounter;
  /** Computes the dates of cron expressions. Every process that runs sessions needs it. Default: none, so schedules with `cron` are refused. */
  readonly scheduleRules?: ScheduleRules;
  /** Gives the model for each call in place of the agent's, for example one with the user's own key. Default: the agent's. */
  readonly resolveModel?: ResolveModel;
  /** Carries the events to other nodes. */
  readonly channel?: EventChannel;
  /** Limits retries, and calls to failing vendors. Default: the guard that all sessions of this clock share, so one per process. */
  readonly callGuard?: CallGuard;
  /** Name of this handle in leases: another handle of the same name takes the session over at once. Default: a random one per handle. */
  readonly node?: string;
  /**
   * The processes that run sessions of the store. They run children in the background; if `areMany`, they also run children whose parent has several at
   * the same time. Default: none, so children run in the process of their parent.
   */
  readonly workers?: ChildWorkers;
  /** How long an owner may be silent before another takes over. Default 20,000. */
  readonly leaseMs?: number;
  /** The share of loads from a snapshot that fold the whole log too and compare the two states, 0 to 1. Default 0.01. */
  readonly snapshotCheckShare?: number;
}
