import type { AgentError } from "../../errors.ts";
import type { State } from "../../loop/state.ts";

/** Notified when the session has no work left that can be done now, and when the log was lost. While there is a watcher, open runs are continued. */
export interface Watcher {
  settled(state: State): void;
  lost(error: AgentError): void;
}

/** The watchers of one session. A watcher that was removed gets no more notifications, not even those of the current round. */
export interface Watchers extends Watcher {
  readonly size: number;
  add(watcher: Watcher): () => void;
}

export function createWatchers(): Watchers {
  return new WatcherSet();
}

class WatcherSet implements Watchers {
  readonly #watchers = new Set<Watcher>();

  get size(): number {
    return this.#watchers.size;
  }

  add(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  settled(state: State): void {
    this.#each((watcher) => watcher.settled(state));
  }

  lost(error: AgentError): void {
    this.#each((watcher) => watcher.lost(error));
  }

  #each(publish: (watcher: Watcher) => void): void {
    for (const watcher of [...this.#watchers]) if (this.#watchers.has(watcher)) publish(watcher);
  }
}
