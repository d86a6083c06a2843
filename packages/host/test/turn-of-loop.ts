import type { ManualClock } from "@loopwright/core/memory";

/** Resolves a turn of the event loop later: what was ready has run. No time is waited for. */
export const turnOfLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Turns of the event loop until it is true. @throws Error when it does not become true */
export async function until(isTrue: () => boolean | Promise<boolean>, what: string, turnsMax = 50_000): Promise<void> {
  for (let turn = 0; turn < turnsMax; turn++) {
    if (await isTrue()) return;
    await turnOfLoop();
  }
  throw new Error(`It did not come to pass that ${what}.`);
}

/** Moves the clock on with every turn of the event loop, until it is stopped. It stands still while it is `held`: real work takes no time then. */
export function runClock(clock: ManualClock, stepMs: number, isHeld: () => boolean = () => false): () => void {
  let isOn = true;
  const step = (): void => {
    if (!isOn) return;
    if (!isHeld()) clock.advance(stepMs);
    setImmediate(step);
  };
  setImmediate(step);
  return () => {
    isOn = false;
  };
}
