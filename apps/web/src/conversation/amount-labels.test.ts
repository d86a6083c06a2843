import { expect, it } from "vitest";
import { dayLabel, durationLabel, tokensLabel } from "./amount-labels.ts";

it("a duration is written in the unit that fits", () => {
  const written = [0, 340, 999, 1000, 8240, 9960, 59_400, 60_000, 125_000, 3_600_000, 3_840_000].map(durationLabel);
  expect(written).toEqual(["0 ms", "340 ms", "999 ms", "1.0 s", "8.2 s", "10 s", "59 s", "1 min", "2 min 5 s", "1 h", "1 h 4 min"]);
});

it("a duration is never negative", () => {
  expect(durationLabel(-5)).toBe("0 ms");
});

it("tokens are written in few characters", () => {
  expect([12, 1240, 12_400, 1_250_000].map(tokensLabel)).toEqual(["12", "1.2K", "12.4K", "1.3M"]);
});

it("a day is named by its distance from today", () => {
  const noon = new Date(2026, 10, 21, 12).getTime();
  expect(dayLabel(new Date(2026, 10, 21, 0, 1).getTime(), noon)).toBe("Today");
  expect(dayLabel(new Date(2026, 10, 20, 23, 59).getTime(), noon)).toBe("Yesterday");
  expect(dayLabel(new Date(2025, 0, 2).getTime(), noon)).toContain("2025");
});
