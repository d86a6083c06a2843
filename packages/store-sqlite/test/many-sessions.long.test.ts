import { describe, expect, it } from "vitest";
import { boundedCalls, costAmong } from "./counted-engine.ts";

/** As many texts as a search of the store looks at. */
const textsMax = 1_000;

describe("among 100,000 sessions", () => {
  it("pages, searches and sweeps read as many rows as among 2,000, and walk no table", { timeout: 540_000 }, () => {
    const [ofFew, ofMany] = [costAmong(2_000), costAmong(100_000)];
    for (const [title, call, rowsMax] of boundedCalls(textsMax)) {
      const few = ofFew(call);
      expect(few.rows, title).toBeGreaterThan(0);
      expect(few.rows, title).toBeLessThanOrEqual(rowsMax);
      expect(ofMany(call), title).toEqual({ rows: few.rows, walks: [] });
    }
  });
});
