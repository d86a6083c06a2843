import { AgentError } from "../errors.ts";
import { refKey, type SessionRef } from "../message/session-ref.ts";
import type { RunQueue } from "../ports/run-queue.ts";

interface Worker {
  readonly take: (ref: SessionRef) => Promise<void>;
  readonly concurrency: number;
  readonly busy: Set<Promise<void>>;
}

export interface MemoryQueueOptions {
  /** How many sessions may wait; more hints are refused, and a sweep finds their sessions. Default 100,000. */
  readonly hintsMax?: number;
}

/**
 * Hints within this process, in the order in which their sessions were first offered. Those for a session that waits are one; one that comes
 * while its session is under way waits until that is over, so no session is in two hands.
 */
export function memoryQueue(options?: MemoryQueueOptions): RunQueue {
  const hintsMax = options?.hintsMax ?? 100_000;
  const waiting = new Map<string, SessionRef>();
  const underWay = new Set<string>();
  const workers = new Set<Worker>();
  let isClosed = false;
  let isScheduled = false;

  /** Never within the call of `offer`. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    void Promise.resolve().then(() => {
      isScheduled = false;
      hand();
    });
  }

  function hand(): void {
    for (const [key, ref] of waiting) {
      if (underWay.has(key)) continue;
      const worker = freest(workers);
      if (!worker) return;
      waiting.delete(key);
      underWay.add(key);
      const handled = settled(worker, ref).then(() => {
        underWay.delete(key);
        worker.busy.delete(handled);
        schedule();
      });
      worker.busy.add(handled);
    }
  }

  async function stop(worker: Worker): Promise<void> {
    workers.delete(worker);
    await Promise.all(worker.busy);
  }

  return {
    async offer({ scope, session }) {
      const key = refKey({ scope, session });
      if (isClosed)
        throw new AgentError("QUEUE_UNAVAILABLE", { message: "The run queue is closed.", fix: "Open a new one.", retryable: false });
      if (waiting.size >= hintsMax && !waiting.has(key))
        throw new AgentError("QUEUE_UNAVAILABLE", { message: `${hintsMax} sessions wait in the run queue; it takes no more.` });
      if (!waiting.has(key)) waiting.set(key, { scope, session });
      schedule();
    },
    work(take, { concurrency }) {
      const worker: Worker = { take, concurrency, busy: new Set() };
      if (!isClosed) workers.add(worker);
      schedule();
      return { stop: () => stop(worker) };
    },
    async close() {
      isClosed = true;
      waiting.clear();
      await Promise.all([...workers].map(stop));
    },
  };
}

/** Settles when the worker has handled a session, well or not. */
async function settled({ take }: Worker, ref: SessionRef): Promise<void> {
  try {
    await take(ref);
  } catch {
    // The taker reports its own failures; a hint is handled in any case.
  }
}

/** The worker with the most free places; `undefined` when none has any. */
function freest(workers: ReadonlySet<Worker>): Worker | undefined {
  let best: Worker | undefined;
  const placesOf = ({ concurrency, busy }: Worker): number => concurrency - busy.size;
  for (const worker of workers) if (placesOf(worker) > (best ? placesOf(best) : 0)) best = worker;
  return best;
}
