import type { Clock } from "../../ports/clock.ts";

/** Runs once, soon, however often it is asked until then. */
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
