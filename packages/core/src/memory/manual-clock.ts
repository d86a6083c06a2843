import type { Clock } from "../ports/clock.ts";

/** A clock that stands still until it is advanced. */
export interface ManualClock extends Clock {
  /** Moves wall clock and monotonic time forward, and runs each timer that is due at its own time, in order. */
  advance(ms: number): void;
  /** Sets the wall clock alone back, as NTP does; negative: forward. */
  setBack(ms: number): void;
  /** How many timers are pending. */
  readonly pending: number;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that starts at `startAt` (default 2026-01-01T00:00:00Z) with its monotonic time at 0. */
export function manualClock(startAt = 1_767_225_600_000): ManualClock {
  let elapsed = 0;
  let wallOffset = startAt;
  let order = 0;
  const timers = new Set<Timer>();

  function nextDue(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of timers)
      if (timer.at <= until && (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order))) next = timer;
    return next;
  }

  return {
    now: () => wallOffset + elapsed,
    monotonic: () => elapsed,
    after(ms, run) {
      const timer: Timer = { at: elapsed + Math.max(0, ms), order: order++, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    soon: (run) => void Promise.resolve().then(run),
    advance(ms) {
      const until = elapsed + ms;
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        timers.delete(timer);
        elapsed = timer.at;
        timer.run();
      }
      elapsed = until;
    },
    setBack(ms) {
      wallOffset -= ms;
    },
    get pending() {
      return timers.size;
    },
  };
}
