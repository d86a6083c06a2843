import fc from "fast-check";
import { describe, it } from "vitest";
import { loopProperties } from "./loop-properties.ts";

describe("for any session", () => {
  for (const [promise, check] of Object.entries(loopProperties)) {
    it(promise, () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => check(seed)),
        { numRuns: 150 },
      );
    });
  }
});
