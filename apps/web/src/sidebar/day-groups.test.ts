import { expect, it } from "vitest";
import { dayGroups } from "./day-groups.ts";

const now = new Date(2026, 10, 21, 0, 30).getTime();
const at = (month: number, day: number, hour = 12): { readonly updatedAt: number } => ({
  updatedAt: new Date(2026, month, day, hour).getTime(),
});

it("conversations stand under the days of the reader's own calendar", () => {
  const groups = dayGroups([at(10, 21, 0), at(10, 20, 23), at(10, 20, 1), at(10, 15), at(9, 28), at(8, 3)], now, "en");
  expect(groups.map(({ name, items }) => [name, items.length])).toEqual([
    ["Today", 1],
    ["Yesterday", 2],
    ["Last 7 days", 1],
    ["Last 30 days", 1],
    ["September 2026", 1],
  ]);
});

it("a date in the future, from a clock that is ahead, belongs to today", () => {
  expect(dayGroups([at(10, 22)], now)[0]?.name).toBe("Today");
});
