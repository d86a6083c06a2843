import { describe, expect, it } from "vitest";
import { manualClock } from "../../memory/manual-clock.ts";
import { createUserCodeTimeout } from "./user-code-timeout.ts";

const rethrow = (error: Error): never => {
  throw error;
};

describe("the wait for user code", () => {
  it("that is answered and aborted in the same moment gives the answer, and leaves no rejection behind", async () => {
    const timeout = createUserCodeTimeout(manualClock());
    const work = Promise.resolve("done");
    const waited = timeout.waitFor(work, rethrow);
    await work.then(() => timeout.abort(0));
    expect(await waited).toBe("done");
    await new Promise((resolve) => setImmediate(resolve));
  });

  it("ends with the reason of an abort once its grace is over, and keeps no timer", async () => {
    const clock = manualClock();
    const timeout = createUserCodeTimeout(clock);
    const waited = timeout.waitFor(new Promise<string>(() => {}), ({ code }) => code);
    timeout.abort(500);
    expect(timeout.signal.aborted).toBe(true);
    clock.advance(500);
    expect(await waited).toBe("RUN_ABORTED");
    expect(clock.pending).toBe(0);
  });

  it("keeps no process alive for a grace in which nothing is waited for", () => {
    const clock = manualClock();
    const isIdle: unknown[] = [];
    const after: typeof clock.after = (ms, run, options) => {
      isIdle.push(options?.idle);
      return clock.after(ms, run, options);
    };
    createUserCodeTimeout({ ...clock, after }).abort(500);
    expect(isIdle).toEqual([true]);
  });
});
