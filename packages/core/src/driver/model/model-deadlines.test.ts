import { describe, expect, it } from "vitest";
import { manualClock } from "../../memory/manual-clock.ts";
import { watchModelCall } from "./model-deadlines.ts";

function watched(deadlines: { readonly firstByteMs: number; readonly idleMs: number; readonly totalMs: number }) {
  const clock = manualClock();
  const errors: string[] = [];
  const watchdog = watchModelCall({ clock, deadlines }, ({ message }) => void errors.push(message));
  return { clock, errors, watchdog };
}

describe("the deadline of silence", () => {
  it.each(["content", "alive"] as const)("counts from the last sign (%s) also where it is shorter than that of the first byte", (sign) => {
    const { clock, errors, watchdog } = watched({ firstByteMs: 60_000, idleMs: 1_000, totalMs: 900_000 });
    clock.advance(5_000);
    watchdog[sign]();
    clock.advance(900);
    watchdog[sign]();
    clock.advance(999);
    expect(errors).toEqual([]);
    clock.advance(1);
    expect(errors).toEqual(["The model fell silent for 1000 ms."]);
  });

  it("does not hold before the first sign, and leaves no timer after the end", () => {
    const { clock, errors, watchdog } = watched({ firstByteMs: 60_000, idleMs: 1_000, totalMs: 900_000 });
    clock.advance(59_999);
    expect(errors).toEqual([]);
    watchdog.content();
    expect(clock.pending).toBe(1);
    watchdog.stop();
    expect(clock.pending).toBe(0);
  });

  it("is reported once when the answer has taken longer than its total time", () => {
    const { clock, errors, watchdog } = watched({ firstByteMs: 60_000, idleMs: 60_000, totalMs: 2_000 });
    watchdog.content();
    clock.advance(120_000);
    expect(errors).toEqual(["The model was not complete after 2000 ms."]);
  });
});
