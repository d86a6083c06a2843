import type { Clock } from "../../ports/clock.ts";

/** Runs once, soon, however often it is asked until then. */
export function createGather(clock: Clock, run: () => void): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    clock.soon(() => {
      isAsked = false;
      run();
    });
  };
}
