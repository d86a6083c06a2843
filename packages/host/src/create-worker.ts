import { createHost, type Host } from "./create-host.ts";
import type { HostOptions } from "./options/host-options.ts";

/** A worker takes a runtime like that of its servers: the same agents, store, channel and queue. */
export type WorkerOptions = Omit<HostOptions, "role" | "isOneOfMany">;

/** Runs sessions that others record. */
export type Worker = Host;

/**
 * A process that runs sessions which servers of the role `server` record: told of them by the queue, and by looking into the store. Works until
 * it is handed over or closed. Without a queue it looks four times a second; in a store
 * whose log cannot tell of appends (S3) less often while it finds nothing, down to every `limits.sweepMs`. @throws AgentError CONFIG_INVALID
 */
export function createWorker(options: WorkerOptions): Worker {
  return createHost({ ...options, role: "worker" });
}
