import { manualClock, systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";

/** Up to here a timer is a pause, above it a deadline. */
const pauseMsMax = 400;

/** A clock on which pauses take no time of the test's, and deadlines pass when the test decides. */
export interface SkippingClock extends Clock {
  /** Lets the deadlines pass that are waited for. */
  skip(): void;
}

export function skippingClock(): SkippingClock {
  const manual = manualClock();
  const deadlines = new Set<number>();
  return {
    now: manual.now,
    monotonic: manual.monotonic,
    soon: systemClock.soon,
    after(ms, run) {
      if (ms > pauseMsMax) {
        const at = manual.monotonic() + ms;
        deadlines.add(at);
        return manual.after(ms, run);
      }
      return systemClock.after(0, () => {
        manual.advance(ms);
        run();
      });
    },
    skip() {
      const last = Math.max(manual.monotonic(), ...deadlines);
      deadlines.clear();
      manual.advance(last - manual.monotonic());
    },
  };
}
