import { isAtRest } from "../loop/state.ts";
import type { Clock } from "../ports/clock.ts";
import type { SessionDriver } from "./session-driver.ts";
import { driverLimits } from "./session-options.ts";

/** Sees to it that a session goes on though nobody watches it. */
export interface Keeper {
  /** Until the session rests: takes over from an owner that is gone, and tries again after a fault of the store. */
  keep(): void;
}

export function createKeeper(driver: SessionDriver, clock: Clock): Keeper {
  let stop: (() => void) | undefined;
  let cancel = (): void => {};
  /** In a row. */
  let faults = 0;
  const end = (): void => {
    stop?.();
    stop = undefined;
    cancel();
  };
  return {
    keep() {
      stop ??= driver.watch({
        settled(state) {
          faults = 0;
          if (isAtRest(state)) end();
        },
        lost(error) {
          if (!error.retryable) return end();
          cancel();
          cancel = clock.after(Math.min(driverLimits.faultCapMs, driverLimits.faultBaseMs * 2 ** faults++), () => driver.kick());
        },
      });
      driver.kick();
    },
  };
}
