import { manualClock } from "@loopwright/core/memory";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { timersOf } from "../../test/timers-of.ts";
import { defaultServerLimits } from "../server-limits.ts";
import { createRateLimiter } from "./rate-limiter.ts";

const anne = { scope: "garden", user: "anne" };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** All timers of a limiter are those of its library. */
const timersOfLimiter = (): ReadonlySet<unknown> => timersOf("rate-limiter-flexible");

it("leaves no timer behind when it is closed", async () => {
  const timers = timersOfLimiter();
  const rates = createRateLimiter(defaultServerLimits, manualClock());
  await rates.take(anne, true);
  await rates.take({ scope: "garden", user: "ben" }, false);
  expect(timers.size).toBe(5);
  rates.close();
  expect(timers.size).toBe(0);
});

it("forgets the counts of minutes that are over", async () => {
  const timers = timersOfLimiter();
  const clock = manualClock(60_000 * 1_000);
  const rates = createRateLimiter({ ...defaultServerLimits, requestsPerMinute: 1 }, clock);
  for (let minute = 0; minute < 5; minute += 1) {
    await rates.take(anne, false);
    await expect(rates.take(anne, false)).rejects.toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 60_000 });
    clock.advance(60_000);
    expect(timers.size).toBeGreaterThan(0);
    vi.advanceTimersByTime(60_000);
    expect(timers.size).toBe(0);
  }
});

it("T12: counts all callers of a scope together as well; what one of them is refused counts for no other, and other scopes are apart", async () => {
  const rates = createRateLimiter({ ...defaultServerLimits, writesPerMinute: 2, writesPerScope: 3 }, manualClock(60_000));
  const take = (scope: string, user: string): Promise<string> =>
    rates.take({ scope, user }, true).then(
      () => "taken",
      (error: Error) => error.message,
    );
  const answers: string[] = [];
  for (const user of ["anne", "anne", "anne", "anne", "ben", "ben", "carla"]) answers.push(await take("garden", user));
  const [ofCaller, ofScope] = [
    "More than 2 requests that change something in a minute.",
    "More than 3 requests of the scope that change something in a minute.",
  ];
  expect(answers).toEqual(["taken", "taken", ofCaller, ofCaller, "taken", ofScope, ofScope]);
  expect(await take("kitchen", "anne")).toBe("taken");
  rates.close();
});
