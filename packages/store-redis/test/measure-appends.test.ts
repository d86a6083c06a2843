import { describe, expect, it } from "vitest";
import { measureAppends } from "./measure-appends.ts";
import { missing } from "./redis-fixture.ts";

describe.skipIf(missing !== undefined)("the measurement of appends", () => {
  it("counts acknowledged appends alone, and gives a figure for each", async () => {
    const { appendsPerSecond, p50Ms, p99Ms } = await measureAppends({ fsync: "everysec", writers: 8, count: 400 });
    expect(appendsPerSecond).toBeGreaterThan(0);
    expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
  });
});
