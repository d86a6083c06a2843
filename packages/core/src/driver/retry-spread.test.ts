import { describe, expect, it } from "vitest";
import { createRetrySpread } from "./retry-spread.ts";

const limits = { bucketMs: 100, bucketShare: 0.05, waitMaxMs: 60_000 };

describe("the spread of retries", () => {
  it("leaves a retry that is alone where chance put it", () => {
    expect(createRetrySpread(limits).place(1_000, 123)).toBe(123);
  });

  it("moves retries of one moment apart, never before their time, and never beyond a minute", () => {
    const spread = createRetrySpread(limits);
    const waits = Array.from({ length: 400 }, () => spread.place(0, 5_000));
    const buckets = new Map<number, number>();
    for (const wait of waits) buckets.set(Math.floor(wait / 100), (buckets.get(Math.floor(wait / 100)) ?? 0) + 1);
    expect(Math.max(...buckets.values())).toBeLessThanOrEqual(20);
    expect(Math.min(...waits)).toBe(5_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(60_000);
  });

  it("forgets what is past", () => {
    const spread = createRetrySpread(limits);
    for (let at = 0; at < 200; at++) expect(spread.place(at * 70_000, 0)).toBe(0);
  });
});
