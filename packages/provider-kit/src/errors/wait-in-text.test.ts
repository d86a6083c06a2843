import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { waitInText } from "./wait-in-text.ts";

describe("waitInText", () => {
  it.each<[string, number | undefined]>([
    ["Rate limit reached for gpt in organization org on tokens per min. Please try again in 20s.", 20_000],
    ["Rate limit reached. Please try again in 6m0s. Visit https://example.test", 360_000],
    ["Please try again in 1h12m28.799s.", 4_348_799],
    ["Please try again in 120ms.", 120],
    ["Please retry in 34.074824224s.", 34_075],
    ["You have exhausted your capacity on this model. Your quota will reset after 239h59m10s.", 863_950_000],
    ["Quota exceeded. Your quota resets in 10 days.", 864_000_000],
    ["Try again after 2 hours, 5 minutes and 1 second.", 7_501_000],
    ["Too many requests. Wait for 3 minutes", 180_000],
    ["Please try again later.", undefined],
    ["Limit 30000 tokens, used 29000.", undefined],
    ["Try again in a moment.", undefined],
    ["Try again in 5 parsecs.", undefined],
    ["", undefined],
  ])("reads %j as %s", (text, expected) => {
    expect(waitInText(text)).toBe(expected);
  });

  it("is quickly a valid number or `undefined`, for any text", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("try again", " in ", "retry ", "9", "1.5", "s", "m ", "h", "days", ",", " and ", "x")),
        (parts) => {
          const wait = waitInText(parts.join(""));
          expect(wait === undefined || (Number.isFinite(wait) && wait >= 0)).toBe(true);
        },
      ),
    );
    expect(waitInText("retry ".repeat(500_000))).toBeUndefined();
  });
});
