import type { Clock } from "../src/ports/index.ts";

/** The clock of a process that can be stopped: time passes, its timers fire when it wakes. */
export interface StoppableClock extends Clock {
  stop(): void;
  wake(): void;
}

export function stoppable(clock: Clock): StoppableClock {
  let isStopped = false;
  const late = new Set<() => void>();
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    soon: (run) => clock.soon(run),
    after(ms, run, options) {
      const fire = (): void => void (isStopped ? late.add(run) : run());
      const cancel = clock.after(ms, fire, options);
      return () => {
        cancel();
        late.delete(run);
      };
    },
    stop() {
      isStopped = true;
    },
    wake() {
      isStopped = false;
      for (const run of late) if (late.delete(run)) run();
    },
  };
}
