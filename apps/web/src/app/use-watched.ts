import { useRef, useSyncExternalStore } from "react";

/** Something that changes and can be watched. */
export interface Watched<State> {
  read(): State;
  subscribe(listener: () => void): () => void;
}

/** The part of a state that `select` takes, rendered again only when that part becomes another value. */
export function useWatched<State, Part>(
  watched: Watched<State>,
  select: (state: State) => Part,
  isSame: (a: Part, b: Part) => boolean = Object.is,
): Part {
  const last = useRef<{ readonly part: Part } | undefined>(undefined);
  const read = (): Part => {
    const part = select(watched.read());
    if (last.current && isSame(last.current.part, part)) return last.current.part;
    last.current = { part };
    return part;
  };
  return useSyncExternalStore(watched.subscribe, read);
}
