import { manualClock } from "@loopwright/core/memory";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { defaultServerLimits } from "../server-limits.ts";
import { createRateLimiter } from "./rate-limiter.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

it("leaves no timer behind when it is closed", async () => {
  const rates = createRateLimiter(defaultServerLimits, manualClock());
  await rates.take("garden/anne", true);
  await rates.take("garden/ben", false);
  expect(vi.getTimerCount()).toBe(3);
  rates.close();
  expect(vi.getTimerCount()).toBe(0);
});

it("forgets the counts of minutes that are over", async () => {
  const clock = manualClock(60_000 * 1_000);
  const rates = createRateLimiter({ ...defaultServerLimits, requestsPerMinute: 1 }, clock);
  for (let minute = 0; minute < 5; minute += 1) {
    await rates.take("garden/anne", false);
    await expect(rates.take("garden/anne", false)).rejects.toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 60_000 });
    clock.advance(60_000);
    vi.advanceTimersByTime(60_000);
    expect(vi.getTimerCount()).toBe(0);
  }
});
