import { isAtRest } from "../loop/state.ts";
import type { Clock } from "../ports/clock.ts";
import type { SessionDriver } from "./session-driver.ts";

/** Sees to it that a session goes on though nobody watches it. */
export interface Keeper {
  /** Until the session rests: takes over from an owner that is gone, and tries again after a fault of the store. */
  keep(): void;
}

/** How long after a fault the store is asked again. */
const faultWaitMs = 1_000;

export function createKeeper(driver: SessionDriver, clock: Clock): Keeper {
  let stop: (() => void) | undefined;
  let cancel = (): void => {};
  const end = (): void => {
    stop?.();
    stop = undefined;
    cancel();
  };
  return {
    keep() {
      stop ??= driver.watch({
        settled: (state) => void (isAtRest(state) && end()),
        lost(error) {
          if (!error.retryable) return end();
          cancel();
          cancel = clock.after(faultWaitMs, () => driver.kick());
        },
      });
      driver.kick();
    },
  };
}
