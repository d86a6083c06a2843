import { describe, expect, it } from "vitest";
import { manualClock } from "../../memory/manual-clock.ts";
import type { ProgressStep } from "../../message/message.ts";
import { createToolProgress } from "./tool-progress.ts";

function scene() {
  const clock = manualClock();
  const published: { readonly atMs: number; readonly written: string }[] = [];
  const progress = createToolProgress(clock, ({ id, title, state }: ProgressStep) => {
    published.push({ atMs: clock.monotonic(), written: `${id} ${title} ${state}` });
  });
  return { clock, published, progress, written: () => published.map(({ written }) => written) };
}

describe("the progress of a tool", () => {
  it("is published at once, without a timer, if nothing was published shortly before", () => {
    const { clock, written, progress } = scene();
    const step = progress.open("Reading");
    for (const title of ["a", "b"]) {
      clock.advance(50);
      step.update(title);
      expect(clock.pending).toBe(0);
    }
    expect(written()).toEqual(["1 Reading open", "1 a open", "1 b open"]);
  });

  it("is published at most twenty times a second for each step, the newest state each time, however often it changes", () => {
    const { clock, published, progress } = scene();
    const steps = [progress.open("one"), progress.open("two")];
    for (let ms = 1; ms <= 1_000; ms += 1) {
      for (let turn = 0; turn < 100; turn += 1) for (const step of steps) step.update(`${ms}.${turn}`);
      clock.advance(1);
    }
    for (const id of ["1", "2"]) {
      const moments = published.filter(({ written }) => written.startsWith(id)).map(({ atMs }) => atMs);
      expect(moments).toEqual(Array.from({ length: 21 }, (_, count) => count * 50));
    }
    expect(published.at(-1)?.written).toBe("2 1000.99 open");
    expect(clock.pending).toBe(0);
  });

  it("ends with its last state: at once when the step ends, and with the tool where it does not", () => {
    const { clock, written, progress } = scene();
    const [ended, open] = [progress.open("one"), progress.open("two")];
    ended.update("one more");
    ended.end("failed");
    ended.update("too late");
    ended.end();
    open.update("two more");
    expect(clock.pending).toBe(1);
    expect(progress.close(true)).toEqual([
      { id: "1", title: "one more", state: "failed" },
      { id: "2", title: "two more", state: "done" },
    ]);
    expect(written()).toEqual(["1 one open", "2 two open", "1 one more failed", "2 two more done"]);
    expect(clock.pending).toBe(0);
    clock.advance(1_000);
    expect(written()).toHaveLength(4);
  });

  it("is of at most 200 steps", () => {
    const { published, progress } = scene();
    for (let count = 0; count < 1_000_000; count += 1) progress.open("step").end();
    expect(published).toHaveLength(400);
    expect(progress.close(false)).toHaveLength(200);
  });
});
