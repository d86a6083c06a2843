import { healthRoute, readyRoute } from "../routes/service/health.ts";
import { metricsRoute } from "../routes/service/metrics.ts";
import type { ServerOptions } from "../server-options.ts";
import { createNode, type RuntimeNode } from "./create-node.ts";

/** What a worker needs: agents and store as its servers have them, and their queue and channel. */
export type WorkerOptions = Pick<
  ServerOptions,
  "agents" | "store" | "channel" | "queue" | "modules" | "limits" | "leaseMs" | "authenticate" | "hosts" | "clock" | "ids" | "logger"
>;

/** Runs sessions, and answers `/healthz`, `/readyz` and `/metrics` where somebody listens for it. */
export type Worker = RuntimeNode;

/**
 * A process that runs sessions which servers of the role `server` record: told of them by the queue, and by looking into the store. Works until
 * it is handed over or closed. Without a queue it looks four times a second; in a store
 * whose log cannot tell of appends (S3) less often while it finds nothing, down to every `limits.sweepMs`. @throws AgentError CONFIG_INVALID
 */
export function createWorker(options: WorkerOptions): Worker {
  return createNode(options, { role: "worker", routes: [healthRoute, readyRoute, metricsRoute] }).node;
}
