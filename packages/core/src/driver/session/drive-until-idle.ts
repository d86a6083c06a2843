import { isAtRest } from "../../loop/state.ts";
import type { Watcher } from "./idle-listeners.ts";

/** The session that is driven. */
interface Driven {
  watch(watcher: Watcher): () => void;
  wake(): void;
}

/**
 * A function that drives a session without a watcher until it rests: it takes over from an owner that is gone, and tries again after a fault of the
 * store.
 */
export function createDriveUntilIdle(driver: Driven): () => void {
  let stop: (() => void) | undefined;
  const end = (): void => {
    stop?.();
    stop = undefined;
  };
  return () => {
    stop ??= driver.watch({
      settled: (state) => void (isAtRest(state) && end()),
      lost: (error) => void (error.retryable || end()),
    });
    driver.wake();
  };
}
