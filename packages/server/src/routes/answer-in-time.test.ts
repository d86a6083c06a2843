import { manualClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { defaultServerLimits } from "../server-limits.ts";
import { answerInTime } from "./answer-in-time.ts";

const limits = { ...defaultServerLimits, answerMs: 2_000 };

/** A clock of which a timer can be fired later than it was set for, as after a process stood still. */
function stoppable() {
  const clock = manualClock();
  let stoodMs = 0;
  return {
    clock: { ...clock, monotonic: () => clock.monotonic() + stoodMs, after: clock.after.bind(clock), now: () => clock.now() },
    standStill(ms: number) {
      stoodMs += ms;
    },
    advance: (ms: number) => clock.advance(ms),
  };
}

it("gives the answer that came while the process stood still, though its timer fires first", async () => {
  const { clock, standStill, advance } = stoppable();
  const work = Promise.withResolvers<string>();
  let isLate = false;
  const answer = answerInTime(work.promise, { clock, limits }, () => {
    isLate = true;
  });
  standStill(10_000);
  advance(2_000);
  work.resolve("came in time");
  expect(await answer).toBe("came in time");
  advance(10_000);
  expect(isLate).toBe(false);
});

it("gives up after a moment where no answer came while the process stood still", async () => {
  const { clock, standStill, advance } = stoppable();
  const answer = answerInTime(new Promise(() => {}), { clock, limits }).catch(({ code }: { readonly code: string }) => code);
  standStill(10_000);
  advance(2_000);
  advance(250);
  expect(await answer).toBe("STORE_UNAVAILABLE");
});

it("gives up on time where the process did not stand still", async () => {
  const clock = manualClock();
  let isLate = false;
  const answer = answerInTime(new Promise(() => {}), { clock, limits }, () => {
    isLate = true;
  }).catch(({ code }: { readonly code: string }) => code);
  clock.advance(1_999);
  expect(isLate).toBe(false);
  clock.advance(1);
  expect(isLate).toBe(true);
  expect(await answer).toBe("STORE_UNAVAILABLE");
});
