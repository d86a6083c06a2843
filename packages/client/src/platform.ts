import type { Clock } from "@loopwright/core/protocol";

/** The time that a client needs. */
export type ClientClock = Pick<Clock, "now" | "after">;

/** The real time. */
export const platformClock: ClientClock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** A number in [0, 1) that cannot be guessed. */
export function platformRandom(): number {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  return number / 2 ** 32;
}

/** Calls the `fetch` of the platform, looked up at each call. */
export const platformFetch = (request: Request): Promise<Response> => fetch(request);
