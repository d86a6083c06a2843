import { refKey, type SessionRef } from "@loopwright/core/ports";
import type { WorkerCalls } from "./thread/worker-calls.ts";

interface Topic {
  readonly ref: SessionRef;
  readonly listeners: Set<(lastSeq: number) => void>;
  /** The newest seq that listeners were notified of; 0 for a log that was removed. */
  notified: number | undefined;
}

/** How soon an append of another process is noticed. */
const pollMs = 250;

/** Notifies listeners of new facts: at once if they were written through this store, soon if another process wrote them. */
export class TailWatch {
  readonly #calls: WorkerCalls;
  readonly #topics = new Map<string, Topic>();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  /** True if a topic is new, so that an earlier query did not include it. */
  #hasNewTopic = false;

  constructor(calls: WorkerCalls) {
    this.#calls = calls;
  }

  subscribe(ref: SessionRef, listener: (lastSeq: number) => void): () => void {
    const key = refKey(ref);
    const topic = this.#topics.get(key) ?? { ref, listeners: new Set(), notified: undefined };
    this.#topics.set(key, topic);
    this.#hasNewTopic = true;
    // A wrapper of its own, so that the same function may listen twice.
    const own = (lastSeq: number): void => listener(lastSeq);
    topic.listeners.add(own);
    this.#timer ??= setInterval(() => void this.#poll(), pollMs).unref();
    return () => {
      topic.listeners.delete(own);
      if (topic.listeners.size === 0 && this.#topics.get(key) === topic) this.#topics.delete(key);
      if (this.#topics.size === 0) this.stop();
    };
  }

  /** Notifies the listeners of a session, outside the caller's turn. `lastSeq` 0: it was removed. */
  notify(ref: SessionRef, lastSeq: number): void {
    const topic = this.#topics.size === 0 ? undefined : this.#topics.get(refKey(ref));
    if (!topic || lastSeq === topic.notified || (lastSeq !== 0 && lastSeq < (topic.notified ?? 0))) return;
    topic.notified = lastSeq;
    queueMicrotask(() => {
      for (const listener of topic.listeners) listener(lastSeq);
    });
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #poll(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const refs = [...this.#topics.values()].map(({ ref }) => ref);
    const always = this.#hasNewTopic;
    this.#hasNewTopic = false;
    const outcome = await this.#calls.ask("tails", { refs, always });
    this.#isAsking = false;
    // If the file cannot be read now, it is read again at the next interval; the next append or read reports the error.
    if (outcome.type !== "answered" || !outcome.answer) return;
    for (const [at, ref] of refs.entries()) {
      const lastSeq = outcome.answer[at];
      if (lastSeq !== undefined) this.notify(ref, lastSeq);
    }
  }
}
