import type { Clock } from "../../ports/clock.ts";

/** Returns a function that requests `run`. Requests that come before `run` is called share one call. */
export function createDebounce(clock: Clock, run: () => void): () => void {
  let isPlanned = false;
  return () => {
    if (isPlanned) return;
    isPlanned = true;
    clock.soon(() => {
      isPlanned = false;
      run();
    });
  };
}
