import { expect, it } from "vitest";
import { startDeadline } from "./deadline.ts";
import { manualClock } from "./manual-clock.ts";

it("a deadline passes once, after exactly its time on a clock that is read all along", async () => {
  for (const ms of [0, 1, 7, 100, 1_500]) {
    const clock = manualClock();
    let passed = 0;
    startDeadline(clock, { ms }, () => passed++);
    if (ms > 0) clock.advance(ms - 1);
    await Promise.resolve();
    expect(passed).toBe(0);
    clock.advance(ms > 0 ? 1 : 0);
    await Promise.resolve();
    clock.advance(10_000);
    await Promise.resolve();
    expect(passed).toBe(1);
    expect(clock.pending).toBe(0);
  }
});

it("time in which the process was blocked counts for an eighth of a deadline at most", async () => {
  // The process is blocked from 100 ms on, for a minute: what is due meanwhile runs at the end of it.
  const clock = manualClock();
  const endMs = 60_100;
  const late: typeof clock = {
    ...clock,
    after: (ms, run, options) =>
      clock.after(
        ms,
        () => {
          const at = clock.monotonic();
          if (at >= 100 && at < endMs) clock.after(endMs - at, run, options);
          else run();
        },
        options,
      ),
  };
  let passedAt: number | undefined;
  startDeadline(late, { ms: 800 }, () => (passedAt = clock.monotonic()));
  clock.advance(60_799);
  await Promise.resolve();
  expect(passedAt).toBeUndefined();
  clock.advance(1);
  await Promise.resolve();
  expect(passedAt).toBe(60_800);
});

it("a deadline that was cancelled passes no more, not even in its last moment", async () => {
  const clock = manualClock();
  let passed = 0;
  const cancel = startDeadline(clock, { ms: 8 }, () => passed++);
  clock.advance(8);
  cancel();
  cancel();
  await Promise.resolve();
  const early = startDeadline(clock, { ms: 8 }, () => passed++);
  clock.advance(4);
  early();
  expect(clock.pending).toBe(0);
  clock.advance(100);
  await Promise.resolve();
  expect(passed).toBe(0);
});
