import { type ManualClock, manualClock } from "@loopwright/core/memory";
import type { ClientClock } from "../src/index.ts";

/** Waits between tries that a client may make; watchdogs wait longer. */
const waitMaxMs = 15_000;

/** A clock on which waits between tries are over at once, and watchdogs never bark. Remembers the waits. */
export function impatientClock(): ClientClock & { readonly waits: readonly number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => 0,
    after(ms, run) {
      if (ms > waitMaxMs) return () => {};
      waits.push(ms);
      let isOn = true;
      void Promise.resolve().then(() => isOn && run());
      return () => {
        isOn = false;
      };
    },
  };
}

/** A clock that moves by hand, and shows when a timer is set. */
export function watchedClock(): ManualClock & { waiting(ms: number): Promise<void> } {
  const clock = manualClock();
  const waiters: { readonly ms: number; readonly resolve: () => void }[] = [];
  return {
    ...clock,
    get pending() {
      return clock.pending;
    },
    after(ms, run) {
      const cancel = clock.after(ms, run);
      for (const waiter of waiters.filter((one) => one.ms === ms)) waiter.resolve();
      return cancel;
    },
    waiting: (ms) => new Promise((resolve) => waiters.push({ ms, resolve })),
  };
}
