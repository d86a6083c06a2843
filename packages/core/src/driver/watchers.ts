import type { AgentError } from "../errors.ts";
import type { State } from "../loop/state.ts";

/** Told whenever nothing is left to do at once, and when the log was lost. As long as one watches, open runs are gone on with. */
export interface Watcher {
  readonly settled: (state: State) => void;
  readonly lost: (error: AgentError) => void;
}

/** Who watches one session. One that has left is told nothing more, not even in the round in which it left. */
export interface Watchers extends Watcher {
  readonly size: number;
  add(watcher: Watcher): () => void;
}

export function createWatchers(): Watchers {
  const watchers = new Set<Watcher>();
  const each = (tell: (watcher: Watcher) => void): void => {
    for (const watcher of [...watchers]) if (watchers.has(watcher)) tell(watcher);
  };
  return {
    get size() {
      return watchers.size;
    },
    add(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    settled: (state) => each((watcher) => watcher.settled(state)),
    lost: (error) => each((watcher) => watcher.lost(error)),
  };
}
