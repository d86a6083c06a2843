import type { Runtime } from "@loopwright/core";
import type { HostLimits } from "./host-limits.ts";

export interface HostOptions {
  /** What all sessions share: agents, store, channel, queue. It stays when the host closes. */
  readonly runtime: Runtime;
  /**
   * `all`: sessions run in this process. `server`: it records inputs and publishes events, and workers (`createWorker`) run the
   * sessions. `worker`: it runs what others record. Default `all`.
   */
  readonly role?: "all" | "server" | "worker";
  /** Other processes share the store. Default: for the roles `server` and `worker`, and where there is a queue. A channel of this process alone is warned of then. */
  readonly isOneOfMany?: boolean;
  readonly limits?: Partial<HostLimits>;
  /** Name of this process in leases, which no other process has. Default: a new id. */
  readonly node?: string;
}
