import { startDeadline, systemClock } from "@loopwright/core/memory";
import { type RunQueueWorker, refKey, type SessionRef } from "@loopwright/core/ports";
import { type Job, Worker, type WorkerOptions } from "bullmq";
import type { QueueConnection } from "./queue-connection.ts";
import { queueLimits } from "./queue-limits.ts";

export interface HintWorkerOptions {
  readonly name: string;
  readonly take: (ref: SessionRef) => Promise<void>;
  /** Gives a hint back to the queue. */
  readonly offer: (ref: SessionRef) => Promise<void>;
  readonly deadlineMs: number;
  /** Closed with the worker. */
  readonly connection: QueueConnection;
  readonly bull: WorkerOptions;
}

/** BullMQ's own `close` waits for Redis before it ends its timer for locks, however long Redis is away. */
class LettingWorker extends Worker {
  async endTimers(): Promise<void> {
    await this.lockManager.close();
  }
}

/** Takes hints from BullMQ. A job is a hint under way; it is over when the take is, well or not. */
export function createHintWorker({ name, take, offer, deadlineMs, connection, bull }: HintWorkerOptions): RunQueueWorker {
  /** Sessions under way here, and whether a hint came meanwhile. */
  const underWay = new Map<string, { isAgain: boolean }>();
  const jobs = new Set<Promise<void>>();
  let stopping: Promise<void> | undefined;

  async function takeOnce(ref: SessionRef): Promise<void> {
    try {
      await take(ref);
    } catch {
      // The taker reports its own failures; a hint is handled in any case.
    }
  }

  async function handle(job: Job<unknown>): Promise<void> {
    const ref = refOf(job.data);
    if (!ref) return;
    // Hints were merged with this one until now; the next is a new one. Where this fails, they are so until they expire.
    await job.removeDeduplicationKey().catch(() => {});
    if (stopping) {
      // BullMQ had fetched it already.
      await offer(ref).catch(() => {});
      return;
    }
    const key = refKey(ref);
    const other = underWay.get(key);
    if (other) {
      other.isAgain = true;
      return;
    }
    const own = { isAgain: false };
    underWay.set(key, own);
    do {
      own.isAgain = false;
      await takeOnce(ref);
    } while (own.isAgain && !stopping);
    underWay.delete(key);
    if (own.isAgain) await offer(ref).catch(() => {});
  }

  const worker = new LettingWorker(
    name,
    (job) => {
      const handled = handle(job).finally(() => jobs.delete(handled));
      jobs.add(handled);
      return handled;
    },
    {
      ...bull,
      drainDelay: queueLimits.idleSeconds,
      runRetryDelay: queueLimits.retryMs,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
  );
  // Connections report their own failures; a lost lock is covered by the lease in the log.
  worker.on("error", () => {});

  async function stop(): Promise<void> {
    const closed = worker.close().catch(() => {});
    while (jobs.size > 0) await Promise.allSettled(jobs);
    // What was fetched in this moment is handled too, as long as Redis answers.
    await Promise.race([closed, new Promise<void>((resolve) => startDeadline(systemClock, { ms: deadlineMs, idle: true }, resolve))]);
    while (jobs.size > 0) await Promise.allSettled(jobs);
    await worker.endTimers();
    connection.close();
  }

  return {
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

function refOf(data: unknown): SessionRef | undefined {
  if (typeof data !== "object" || data === null || !("scope" in data) || !("session" in data)) return undefined;
  const { scope, session } = data;
  return typeof scope === "string" && typeof session === "string" ? { scope, session } : undefined;
}
