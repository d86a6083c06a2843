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
  soon: (run) => afterReady(run),
};

/** A turn of the event loop later: `setImmediate` where there is one, else a timer. */
function afterReady(run: () => void): void {
  const { setImmediate } = globalThis as { readonly setImmediate?: (run: () => void) => void };
  if (setImmediate) setImmediate(run);
  else setTimeout(run, 0);
}
