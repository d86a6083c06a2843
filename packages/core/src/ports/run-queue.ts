import type { SessionRef } from "./session-log.ts";

/** A worker that takes hints from a queue. */
export interface RunQueueWorker {
  /** Takes no more; resolves when those under way are handled. Twice is once. */
  stop(): Promise<void>;
}

/**
 * Tells workers that a session may have work. A hint and never the truth: lost, late, doubled and reordered ones are harmless, for the log
 * says what is owed, and a sweep over `SessionLog.due` finds what no hint told of.
 */
export interface RunQueue {
  /** Wakes one worker, of whatever process. A hint for a session that already waits may be merged with it. @throws AgentError QUEUE_UNAVAILABLE */
  offer(ref: SessionRef): Promise<void>;
  /** Hands each hint to one worker. It is handled when the promise of `take` settles, however; at most `concurrency` are under way at once here. */
  work(take: (ref: SessionRef) => Promise<void>, options: { readonly concurrency: number }): RunQueueWorker;
  /** Stops its workers and lets go of its connections. Hints that nobody took may be lost. Twice is once. */
  close(): Promise<void>;
}
