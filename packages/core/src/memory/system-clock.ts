import type { Clock } from "../ports/clock.ts";

const mayBeIdle = (timer: unknown): timer is { unref(): void } => typeof timer === "object" && timer !== null && "unref" in timer;

/** The real time of this process. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run, options) {
    // A number in browsers, an object in Node.js.
    const timer: unknown = setTimeout(run, ms);
    if (options?.idle && mayBeIdle(timer)) timer.unref();
    return () => clearTimeout(timer as number);
  },
  soon: (run) => afterReady(run),
};

/** Runs one turn of the event loop later, by `setImmediate` or else by a timer. */
function afterReady(run: () => void): void {
  const { setImmediate } = globalThis as { readonly setImmediate?: (run: () => void) => void };
  if (setImmediate) setImmediate(run);
  else setTimeout(run, 0);
}
