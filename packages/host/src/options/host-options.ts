import type { Runtime } from "@loopwright/core";
import type { HostLimits } from "./host-limits.ts";
import type { RetentionRules } from "./retention-rules.ts";

export interface HostOptions {
  /** What all sessions share: agents, store, channel, queue. It stays open when the host closes. */
  readonly runtime: Runtime;
  /**
   * `all`: sessions run in this process. `server`: it records inputs and publishes events, and workers (`createWorker`) run the
   * sessions. `worker`: it runs the sessions that other processes record. Default `all`.
   */
  readonly role?: "all" | "server" | "worker";
  /**
   * True if other processes share the store. Default: true for the roles `server` and `worker`, and with a queue. The logger then gets a warning
   * if the channel reaches this process alone.
   */
  readonly isOneOfMany?: boolean;
  /** How long the sessions of each scope are kept; after that, processes that run sessions erase them. Default: the `retention` of each session decides. */
  readonly retention?: RetentionRules;
  readonly limits?: Partial<HostLimits>;
  /** Name of this process in leases; unique among the processes of the store. Default: a new id. */
  readonly node?: string;
}
