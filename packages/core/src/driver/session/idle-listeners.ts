import type { AgentError } from "../../errors.ts";
import type { State } from "../../loop/state.ts";

/** Notified when nothing is left to do at once, and when the log was lost. Open runs are continued while there is one. */
export interface Watcher {
  settled(state: State): void;
  lost(error: AgentError): void;
}

/** The watchers of one session. One that has left gets no more notifications, not even in the round in which it left. */
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
