import type { Clock } from "../../ports/clock.ts";

/** Runs the function once, soon, however often it is requested until then. */
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
