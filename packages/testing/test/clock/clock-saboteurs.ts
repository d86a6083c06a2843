import type { Clock } from "@loopwright/core";
import { manualClock } from "@loopwright/core/memory";
import type { ClockUnderTest } from "../../src/clock/clock-kit.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";

/** A clock that stands still until the kit lets time pass. */
export const makeManualClock = async (): Promise<ClockUnderTest> => {
  const clock = manualClock();
  return { clock, pass: async (ms) => clock.advance(ms) };
};

const spoiled = (spoil: (real: Clock) => Partial<Clock>) => async (): Promise<ClockUnderTest> => {
  const { clock, pass } = await makeManualClock();
  return { clock: { ...clock, ...spoil(clock) }, pass };
};

/** Defects of clocks. */
export const clockSaboteurs: readonly Saboteur<ClockUnderTest>[] = [
  { defect: "reports seconds since the epoch", breaks: ["wall"], make: spoiled((real) => ({ now: () => real.now() / 1_000 })) },
  {
    defect: "reports intervals in seconds",
    breaks: ["monotonic", "once"],
    make: spoiled((real) => ({ monotonic: () => real.monotonic() / 1_000 })),
  },
  {
    defect: "runs at once what is due at once",
    breaks: ["once"],
    make: spoiled((real) => ({
      after(ms, run) {
        if (ms > 0) return real.after(ms, run);
        run();
        return () => {};
      },
    })),
  },
  { defect: "runs at once what is to run soon", breaks: ["soon"], make: spoiled(() => ({ soon: (run) => run() })) },
  {
    defect: "runs things in the order of planning",
    breaks: ["order"],
    make: spoiled((real) => {
      let longest = 0;
      return {
        after(ms, run) {
          longest = Math.max(longest, ms);
          return real.after(longest, run);
        },
      };
    }),
  },
  {
    defect: "cancels nothing",
    breaks: ["cancel"],
    make: spoiled((real) => ({
      after(ms, run) {
        real.after(ms, run);
        return () => {};
      },
    })),
  },
];
