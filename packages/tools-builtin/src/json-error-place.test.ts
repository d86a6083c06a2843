import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonErrorPlace } from "./json-error-place.ts";

describe("the place where a text stops being JSON", () => {
  it.each([
    ["", 0],
    ["x", 0],
    ["[1,]", 3],
    ["[1 2]", 3],
    ["[1}", 2],
    ["{]", 1],
    ["{,}", 1],
    ['{"a"}', 4],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ["{a:1}", 1],
    ["{1:1}", 1],
    ["[01]", 2],
    ['["a\nb"]', 1],
    ['["\\x"]', 1],
    ["1 1", 2],
    ["[1", 2],
    ['{"a"', 4],
    ["tru", 0],
    [": 1", 0],
  ])("is in %j at %i", (text, place) => {
    expect(jsonErrorPlace(text)).toBe(place);
  });

  it("is the end of every text that is JSON", () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(0, 2), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), undefined, indent);
        expect(jsonErrorPlace(spaced)).toBe(spaced.length);
      }),
    );
  });

  it("is somewhere in every text that is cut, never behind it", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, cut) => {
        const place = jsonErrorPlace(text.slice(0, cut % (text.length + 1)));
        expect(place).toBeLessThanOrEqual(text.length);
        expect(place).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
