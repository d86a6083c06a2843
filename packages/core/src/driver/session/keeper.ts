import { isAtRest } from "../../loop/state.ts";
import type { SessionDriver } from "./session-driver.ts";

/** Sees to it that a session goes on though nobody watches it. */
export interface Keeper {
  /** Until the session rests: takes over from an owner that is gone, and tries again after a fault of the store. */
  keep(): void;
}

export function createKeeper(driver: SessionDriver): Keeper {
  let stop: (() => void) | undefined;
  const end = (): void => {
    stop?.();
    stop = undefined;
  };
  return {
    keep() {
      stop ??= driver.watch({
        settled: (state) => void (isAtRest(state) && end()),
        lost: (error) => void (error.retryable || end()),
      });
      driver.kick();
    },
  };
}
