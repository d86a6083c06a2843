import type { SessionRef } from "../message/session-ref.ts";

/** A consumer of the queue. */
export interface RunQueueWorker {
  /** Takes no more hints, so that other workers get them; resolves when the hints in progress are handled. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Wakes a worker for a session that may have work. A hint is never the source of truth: it may be lost, delayed, duplicated or reordered,
 * because the log determines the work, and a sweep over `SessionLog.due` finds sessions without a hint.
 */
export interface RunQueue {
  /** Wakes one worker of any process, or the first one that starts. A hint for a session that is in progress is delivered afterwards. Hints for a session that is already queued may be merged. @throws AgentError QUEUE_UNAVAILABLE */
  offer(ref: SessionRef): Promise<void>;
  /**
   * Delivers each hint to one worker. In a backlog the scopes take turns: a scope with many hints delays no other scope, and no hint waits for ever. A hint
   * is handled when the promise of `take` settles, also by rejection: it is not delivered again. At most `concurrency` are in progress per call.
   */
  work(take: (ref: SessionRef) => Promise<void>, options: { readonly concurrency: number }): RunQueueWorker;
  /** Stops its workers, waits for them and closes its connections; later offers are QUEUE_UNAVAILABLE. Hints that no worker took may be lost. Idempotent. */
  close(): Promise<void>;
}
