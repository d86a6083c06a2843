import { describe, expect, it } from "vitest";
import { cronRules } from "../src/index.ts";

const datesOf = (
  rule: string,
  { timeZone = "UTC", from, count }: { timeZone?: string; from: string; count: number },
): readonly string[] => {
  const rules = cronRules();
  const dates: string[] = [];
  let after = Date.parse(from);
  while (dates.length < count) {
    const next = rules.next(rule, { after, timeZone });
    if (next === undefined) break;
    dates.push(new Date(next).toISOString().replace(":00.000Z", "Z"));
    after = next;
  }
  return dates;
};

describe("the dates of a cron expression", () => {
  it.each<[string, string, string, readonly string[]]>([
    ["0 9 * * 1-5", "America/New_York", "2026-10-30T00:00Z", ["2026-10-30T13:00Z", "2026-11-02T14:00Z", "2026-11-03T14:00Z"]],
    ["@daily", "Asia/Kathmandu", "2026-10-25T00:31Z", ["2026-10-25T18:15Z", "2026-10-26T18:15Z"]],
    ["*/20 * * * *", "UTC", "2026-01-01T00:00Z", ["2026-01-01T00:20Z", "2026-01-01T00:40Z", "2026-01-01T01:00Z"]],
    ["0 12 29 2 *", "UTC", "2026-01-01T00:00Z", ["2028-02-29T12:00Z", "2032-02-29T12:00Z"]],
    ["15 6 * jan,jul sun", "UTC", "2026-06-30T00:00Z", ["2026-07-05T06:15Z", "2026-07-12T06:15Z"]],
  ])("%s in %s after %s", (rule, timeZone, from, dates) => {
    expect(datesOf(rule, { timeZone, from, count: dates.length })).toEqual(dates);
  });

  it("is strictly after the given time, also when that is a date of the rule", () => {
    expect(datesOf("0 0 * * *", { from: "2026-01-01T00:00:00Z", count: 1 })).toEqual(["2026-01-02T00:00Z"]);
    expect(datesOf("0 0 * * *", { from: "2025-12-31T23:59:59.999Z", count: 1 })).toEqual(["2026-01-01T00:00Z"]);
  });

  it("comes once on a day on which its local time is skipped, after the clocks are set forward", () => {
    const spring = { timeZone: "Europe/Berlin", from: "2026-03-28T00:00Z", count: 3 };
    expect(datesOf("30 2 * * *", spring)).toEqual(["2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"]);
  });

  it("comes once on a day on which its local time comes twice, and each real hour for a rule that repeats", () => {
    const autumn = { timeZone: "Europe/Berlin", from: "2026-10-24T12:00Z" };
    expect(datesOf("30 2 * * *", { ...autumn, count: 2 })).toEqual(["2026-10-25T00:30Z", "2026-10-26T01:30Z"]);
    expect(datesOf("0 * * * *", { ...autumn, from: "2026-10-24T23:30Z", count: 4 })).toEqual([
      ...["2026-10-25T00:00Z", "2026-10-25T01:00Z", "2026-10-25T02:00Z", "2026-10-25T03:00Z"],
    ]);
  });

  it("does not exist for a day that never comes", () => {
    expect(datesOf("0 0 30 2 *", { from: "2026-01-01T00:00Z", count: 1 })).toEqual([]);
  });

  it.each(["* * * *", "61 * * * *", "tomorrow", "* * * * * *", "0 0 1 1 * 2020", ""])("is refused for %j with the reason", (rule) => {
    expect(() => datesOf(rule, { from: "2026-01-01T00:00Z", count: 1 })).toThrow(/CronPattern/);
  });

  it("stays the same for more expressions than a process remembers", () => {
    const rules = cronRules();
    const after = Date.parse("2026-01-01T00:00Z");
    for (let place = 0; place < 1_100; place++) {
      const [minute, hour] = [place % 60, Math.floor(place / 60) % 24];
      expect(rules.next(`${minute} ${hour} * * *`, { after, timeZone: "UTC" })).toBe(
        after + (((hour * 60 + minute) * 60_000 - 1 + 86_400_000) % 86_400_000) + 1,
      );
    }
  });
});
