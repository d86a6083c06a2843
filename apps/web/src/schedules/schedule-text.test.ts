import { expect, it } from "vitest";
import { requestOf, rhythmText } from "./schedule-text.ts";

it("names the interval in the longest unit that fits", () => {
  expect(rhythmText({})).toBe("once");
  expect(rhythmText({ everyMs: 86_400_000 })).toBe("every day");
  expect(rhythmText({ everyMs: 90 * 60_000 })).toBe("every 90 minutes");
  expect(rhythmText({ everyMs: 7_200_000 })).toBe("every 2 hours");
  expect(rhythmText({ everyMs: 61_000 })).toBe("every 61 seconds");
  expect(rhythmText({ cron: "0 9 * * 1-5", timeZone: "Europe/Berlin" })).toBe("by `0 9 * * 1-5` in Europe/Berlin");
});

it("asks for what the chosen rhythm needs alone", () => {
  const draft = { input: "Any news?", at: "2027-03-01T09:00", count: 2, unitMs: 3_600_000, cron: " @daily " };
  expect(requestOf({ ...draft, rhythm: "once" }, "Europe/Berlin")).toEqual({
    input: "Any news?",
    at: "2027-03-01T09:00",
    timeZone: "Europe/Berlin",
  });
  expect(requestOf({ ...draft, rhythm: "every", at: "" }, "UTC")).toEqual({ input: "Any news?", everyMs: 7_200_000 });
  expect(requestOf({ ...draft, rhythm: "cron" }, "UTC")).toEqual({ input: "Any news?", cron: "@daily", timeZone: "UTC" });
});
