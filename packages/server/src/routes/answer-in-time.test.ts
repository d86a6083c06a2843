import { manualClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { defaultServerLimits } from "../server-limits.ts";
import { answerInTime } from "./answer-in-time.ts";

const limits = { ...defaultServerLimits, answerMs: 2_000 };

/** A process that is blocked until so many milliseconds from the beginning: what is due meanwhile runs at the end of it. */
function blockedUntil(endMs: number): ReturnType<typeof manualClock> {
  const clock = manualClock();
  return {
    ...clock,
    after: (ms, run, options) => {
      const due = (): void => {
        const leftMs = endMs - clock.monotonic();
        if (leftMs > 0) clock.after(leftMs, run, options);
        else run();
      };
      return clock.after(ms, due, options);
    },
  };
}

it("gives the answer that came while the process was blocked, or soon after", async () => {
  const clock = blockedUntil(10_000);
  const work = Promise.withResolvers<string>();
  let isLate = false;
  const answer = answerInTime(work.promise, { clock, limits }, () => {
    isLate = true;
  });
  clock.advance(11_500);
  work.resolve("came in time");
  expect(await answer).toBe("came in time");
  clock.advance(10_000);
  expect(isLate).toBe(false);
});

it("gives up where no answer comes after the process was blocked either", async () => {
  const clock = blockedUntil(10_000);
  const answer = answerInTime(new Promise(() => {}), { clock, limits }).catch(({ code }: { readonly code: string }) => code);
  clock.advance(10_000 + limits.answerMs);
  expect(await answer).toBe("STORE_UNAVAILABLE");
});

it("gives up on time where the process was not blocked", async () => {
  const clock = manualClock();
  let isLate = false;
  const answer = answerInTime(new Promise(() => {}), { clock, limits }, () => {
    isLate = true;
  }).catch(({ code }: { readonly code: string }) => code);
  clock.advance(limits.answerMs - 1);
  await Promise.resolve();
  expect(isLate).toBe(false);
  clock.advance(1);
  expect(await answer).toBe("STORE_UNAVAILABLE");
  expect(isLate).toBe(true);
});
