import { expect, it } from "vitest";
import { replaySchedule, runSchedules } from "../src/index.ts";

/** Orders of the sample; more in `npm run long-tests`. */
const count = Number(process.env["LOOPWRIGHT_SCHEDULES"] ?? 150);

it("every order of two requests of each of two owners, an abort and a message breaks no promise", async () => {
  const report = await runSchedules({ ownerRequests: 2 });
  expect(report.failures).toEqual([]);
  expect(report.isComplete).toBe(true);
  // Orders of 2 + 2 + 1 + 1 requests.
  expect(report.schedules).toBeGreaterThan(100);
  expect(report.schedules).toBeLessThanOrEqual(180);
});

it("no order is run twice", async () => {
  const seen = new Set<string>();
  let last: readonly number[] | undefined;
  const { schedules } = await runSchedules({
    ownerRequests: 2,
    onSchedule: (schedule) => {
      seen.add(schedule.join());
      last = schedule;
    },
  });
  expect(seen.size).toBe(schedules);
  expect(await replaySchedule(last ?? [], 2)).toEqual([]);
});

it("a sample of the orders of five requests of each owner breaks no promise", async () => {
  const report = await runSchedules({ sample: { seed: 1, count } });
  expect(report.failures).toEqual([]);
  expect(report.schedules).toBe(count);
});
