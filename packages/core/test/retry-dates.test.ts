import { describe, expect, it } from "vitest";
import { execute, resume } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import { calm, deferred, howStands, world } from "./harness.ts";

it("a handle that does not own the session sets itself no timer for a retry that its owner has left behind", async () => {
  const { session, again } = world([{ error: "MODEL_OVERLOADED" }, { text: "never asked for" }]);
  execute(session, "go");
  await calm();
  const clock = manualClock();
  const other = await again({ clock }).ready();
  clock.advance(120_000);
  await other.change({ title: "seen" });
  await calm();
  expect(clock.pending).toBe(0);
});

it("a retry that a clock two days ahead has put off is made as soon as another owner sees it", async () => {
  const ahead = manualClock(Date.UTC(2026, 0, 3));
  const store = memoryStore({ clock: ahead });
  const { session, again, provider } = world([{ error: "MODEL_OVERLOADED" }, { text: "done" }], { session: { store, clock: ahead } });
  execute(session, "go");
  await calm();
  await session[Symbol.asyncDispose]();
  const stream = resume(again({ clock: manualClock(Date.UTC(2026, 0, 1)) }));
  await calm();
  expect(await howStands(stream.result())).toBe("resolved");
  expect(provider.requests).toHaveLength(2);
});

describe("a retry whose `prepare` hook takes its time", () => {
  it("wakes the session once, not again and again until the hook answers", async () => {
    const answer = deferred();
    const timers: number[] = [];
    const clock = manualClock();
    const after: typeof clock.after = (ms, run, options) => {
      timers.push(ms);
      return clock.after(ms, run, options);
    };
    const { session, provider } = world([{ error: "MODEL_OVERLOADED" }, { text: "ok" }], {
      hooks: [{ name: "prepare", prepare: ({ attempt }) => (attempt === 2 ? answer.promise : undefined) }],
      session: { clock: { ...clock, after } },
    });
    const result = execute(session, "x").result();
    await calm();
    for (let round = 0; round < 5; round++) {
      clock.advance(1_000);
      await calm();
    }
    timers.length = 0;
    for (let round = 0; round < 50; round++) {
      clock.advance(1);
      await calm();
    }
    expect(timers.filter((ms) => ms === 0).length).toBeLessThan(2);
    expect(provider.requests).toHaveLength(1);
    answer.resolve();
    expect((await result).text).toBe("ok");
  });
});
