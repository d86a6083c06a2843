import { useRef, useSyncExternalStore } from "react";
import type { Watched } from "./watched.ts";

/** The part of a state that `select` takes, rendered again only when that part becomes another value. */
export function useWatched<State, Part>(
  watched: Watched<State>,
  select: (state: State) => Part,
  isSame: (a: Part, b: Part) => boolean = Object.is,
): Part {
  const last = useRef<{ readonly part: Part }>(undefined);
  const read = (): Part => {
    const part = select(watched.read());
    if (last.current && isSame(last.current.part, part)) return last.current.part;
    last.current = { part };
    return part;
  };
  return useSyncExternalStore(watched.subscribe, read);
}
