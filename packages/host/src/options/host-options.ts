import type { Agent } from "@loopwright/core";
import type { Clock, EventChannel, IdSource, Logger, RunQueue, SessionStore } from "@loopwright/core/ports";
import type { HostLimits } from "./host-limits.ts";

export interface HostOptions {
  /** The first is the default. */
  readonly agents: readonly Agent[];
  readonly store: SessionStore;
  /** Default: one within this process. */
  readonly channel?: EventChannel;
  /**
   * `all`: sessions run in this process. `server`: it records what callers say and tells what happens, and workers (`createWorker`) run the
   * sessions. `worker`: it runs what others record. Default `all`.
   */
  readonly role?: "all" | "server" | "worker";
  /** Tells workers of work; stays open when the host closes. Default: one within this process; none for the role `server`, whose workers look by themselves. */
  readonly queue?: RunQueue;
  /** Other processes share the store. Default: for the roles `server` and `worker`, and where there is a queue. A channel of this process alone is warned of then. */
  readonly isOneOfMany?: boolean;
  /** Parts of the product that a request may name as `activeModule`, with what the model is told there. */
  readonly modules?: { readonly [id: string]: { readonly prompt: string } };
  readonly limits?: Partial<HostLimits>;
  /** How long the owner of a session may be silent before another node takes over, in milliseconds. Default 20,000. */
  readonly leaseMs?: number;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly logger?: Logger;
}
