import { describe, expect, it } from "vitest";
import { createRetrySpread } from "./retry-spread.ts";

const limits = { bucketMs: 100, bucketShare: 0.05, waitMaxMs: 60_000 };

describe("the spread of retries", () => {
  it("leaves a retry that is alone nearly where chance put it, and never earlier", () => {
    expect(createRetrySpread(limits).reserve(1_000, 123)).toBe(200);
    expect(createRetrySpread(limits).reserve(1_000, 200)).toBe(200);
  });

  it("moves retries of one moment apart, never before their time, and never beyond a minute", () => {
    const spread = createRetrySpread(limits);
    const waits = Array.from({ length: 400 }, () => spread.reserve(0, 5_000));
    const inTheMoment = waits.map((from) => waits.filter((wait) => wait >= from && wait < from + 100).length);
    expect(Math.max(...inTheMoment)).toBeLessThanOrEqual(20);
    expect(Math.min(...waits)).toBe(5_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(60_000);
  });

  it("forgets what is past", () => {
    const spread = createRetrySpread(limits);
    for (let at = 0; at < 200; at++) expect(spread.reserve(at * 70_000, 0)).toBe(0);
  });
});
