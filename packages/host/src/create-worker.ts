import { createHost, type Host } from "./create-host.ts";
import type { HostOptions } from "./options/host-options.ts";

/** A worker takes a runtime like that of its servers: the same agents, store, channel and queue. */
export type WorkerOptions = Omit<HostOptions, "role" | "isOneOfMany">;

/** Runs sessions that other processes record. */
export type Worker = Host;

/**
 * A process that runs the sessions which servers of the role `server` record. It finds them by hints of the queue and by sweeps over the store, until
 * `handOver` or `close`. Without a queue it sweeps four times a second; if the log of the store has no `subscribe` (S3), less often
 * while it finds nothing, down to once every `limits.sweepMs`. @throws AgentError CONFIG_INVALID
 */
export function createWorker(options: WorkerOptions): Worker {
  return createHost({ ...options, role: "worker" });
}
