import { AgentError } from "../errors.ts";
import { refKey, type SessionRef } from "../message/session-ref.ts";
import type { RunQueue } from "../ports/run-queue.ts";
import { createHintList } from "./hint-list.ts";

interface Worker {
  readonly take: (ref: SessionRef) => Promise<void>;
  readonly concurrency: number;
  readonly busy: Set<Promise<void>>;
}

export interface MemoryQueueOptions {
  /**
   * How many sessions may wait. In a full queue, a hint of the scope with the most hints is refused; a hint of another scope displaces the oldest hint of
   * that scope. A sweep finds these sessions. Default 100,000.
   */
  readonly hintsMax?: number;
}

/**
 * A queue within this process. The scopes take turns; within a scope the sessions come in the order in which they were first offered. Hints for a waiting
 * session are merged. A hint for a session that is under way waits until that ends, so no session runs twice at once.
 */
export function memoryQueue(options?: MemoryQueueOptions): RunQueue {
  const hintsMax = options?.hintsMax ?? 100_000;
  const waiting = createHintList();
  const underWay = new Set<string>();
  const workers = new Set<Worker>();
  let isClosed = false;
  let isScheduled = false;

  /** Gives out hints, never within the call of `offer`. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    void Promise.resolve().then(() => {
      isScheduled = false;
      hand();
    });
  }

  function hand(): void {
    for (;;) {
      const worker = freest(workers);
      const ref = worker && waiting.take((key) => !underWay.has(key));
      if (!ref) return;
      const key = refKey(ref);
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
      if (isClosed)
        throw new AgentError("QUEUE_UNAVAILABLE", { message: "The run queue is closed.", fix: "Open a new one.", retryable: false });
      if (!waiting.add({ scope, session }, hintsMax))
        throw new AgentError("QUEUE_UNAVAILABLE", { message: `${hintsMax} sessions wait in the run queue; it takes no more.` });
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

/** Resolves when the worker has handled a session, also if that failed. */
async function settled({ take }: Worker, ref: SessionRef): Promise<void> {
  try {
    await take(ref);
  } catch {
    // The taker reports its own failures; a hint is handled in any case.
  }
}

/** The worker with the most free places; `undefined`: no worker has one. */
function freest(workers: ReadonlySet<Worker>): Worker | undefined {
  let best: Worker | undefined;
  const placesOf = ({ concurrency, busy }: Worker): number => concurrency - busy.size;
  for (const worker of workers) if (placesOf(worker) > (best ? placesOf(best) : 0)) best = worker;
  return best;
}
