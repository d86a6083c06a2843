/** Something that changes and can be watched. */
export interface Watched<State> {
  read(): State;
  /** Calls the listener on every change; ends with the function it returns. */
  subscribe(listener: () => void): () => void;
}

/** A watched value that its maker can change. */
export interface Changeable<State> extends Watched<State> {
  put(next: State): void;
}

/** A value to watch. Its functions need no `this`. */
export function createWatched<State>(initial: State): Changeable<State> {
  const listeners = new Set<() => void>();
  let state = initial;
  return {
    read: () => state,
    put(next) {
      if (Object.is(next, state)) return;
      state = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
