import { expect, it } from "vitest";
import { manualClock } from "./manual-clock.ts";

it("stands still until it is advanced", () => {
  const clock = manualClock(1_000);
  expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
  clock.advance(5);
  expect([clock.now(), clock.monotonic()]).toEqual([1_005, 5]);
});

it("runs what is due in order of time, each at its own moment, also what is planned on the way", () => {
  const clock = manualClock();
  const seen: unknown[] = [];
  const note = (name: string) => () => void seen.push([name, clock.monotonic()]);
  clock.after(20, note("late"));
  clock.after(10, () => {
    note("early")();
    clock.after(5, note("planned"));
  });
  clock.after(10, note("second"));
  clock.after(30, note("beyond"));
  clock.advance(25);
  expect(seen).toEqual([
    ["early", 10],
    ["second", 10],
    ["planned", 15],
    ["late", 20],
  ]);
  expect([clock.monotonic(), clock.pending]).toEqual([25, 1]);
});

it("does not run what was cancelled", () => {
  const clock = manualClock();
  let runs = 0;
  const cancel = clock.after(1, () => runs++);
  cancel();
  clock.advance(10);
  expect([runs, clock.pending]).toEqual([0, 0]);
});

it("lets the wall clock go back while its monotonic time continues", () => {
  const clock = manualClock(1_000);
  clock.setBack(500);
  clock.advance(1);
  expect([clock.now(), clock.monotonic()]).toEqual([501, 1]);
});
