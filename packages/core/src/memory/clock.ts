import type { Clock } from "../ports/clock.ts";

type Timer = { unref?: () => void };

/** The real time of this process. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run, options) {
    const timer = setTimeout(run, ms) as unknown as Timer;
    if (options?.idle) timer.unref?.();
    return () => clearTimeout(timer as unknown as number);
  },
};
