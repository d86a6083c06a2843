import type { RunQueue, RunQueueWorker, SessionRef } from "@loopwright/core/ports";
import { keyOf } from "../sessions/session-key.ts";

/** A queue within this process. */
export function localQueue(): RunQueue {
  const waiting = new Map<string, SessionRef>();
  const workers = new Set<() => void>();
  const wakeAll = (): void => {
    for (const wake of workers) wake();
  };
  return {
    async offer(ref) {
      waiting.set(keyOf(ref), ref);
      wakeAll();
    },
    work(take, { concurrency }): RunQueueWorker {
      const busy = new Set<Promise<void>>();
      const wake = (): void => {
        for (const [key, ref] of waiting) {
          if (busy.size >= concurrency) return;
          waiting.delete(key);
          const handled: Promise<void> = take(ref)
            .catch(() => {})
            .finally(() => {
              busy.delete(handled);
              if (workers.has(wake)) wake();
            });
          busy.add(handled);
        }
      };
      workers.add(wake);
      wake();
      return {
        async stop() {
          workers.delete(wake);
          await Promise.all(busy);
        },
      };
    },
    async close() {
      workers.clear();
      waiting.clear();
    },
  };
}
